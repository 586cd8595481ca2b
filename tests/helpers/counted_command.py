"""The command `emdiam` in a process that counts, in a file, the traversals that it begins.

python -m tests.helpers.counted_command FILE ARGUMENTS... A byte is appended when a traversal begins, so that kill -9
loses none.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from emdiam.cli.main import main
from emdiam.traverse.bfs import BfsRun
from emdiam.traverse.labels import LabelRun
from emdiam.traverse.level_windows import LevelWindowBatch
from emdiam.traverse.multi import MultiRun
from emdiam.traverse.spread import SpreadRun

TRAVERSALS = (BfsRun, MultiRun, LevelWindowBatch, SpreadRun, LabelRun)


def count_into(handle: int) -> None:
    """From now on every traversal of this process appends a byte to the open file."""
    for kind in TRAVERSALS:
        def begin(self: Any, *args: Any, _init: Any = kind.__init__, **more: Any) -> None:
            os.write(handle, b"+")
            _init(self, *args, **more)

        kind.__init__ = begin  # type: ignore[method-assign]


if __name__ == "__main__":
    count_into(os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644))
    main(sys.argv[2:])
