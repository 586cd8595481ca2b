"""Planted faults in what brings blocks to kernels, and in rows that are put aside meanwhile."""

from __future__ import annotations

from tests.mutations.fault import Fault

_ENGINE = ("tests/engine/test_protocol.py",)

STREAM_FAULTS = (
    Fault("blocks that are read ahead are of one side alone", "emdiam/stream/pager.py",
          "for side in (before, after)))", "for side in (after, after)))",
          ("tests/stream/test_pager.py",)),
    Fault("blocks that are not resident are not swept", "emdiam/stream/pager.py",
          "        self.threads.for_each(self._ahead(blocks), work, tick)\n", "", _ENGINE),
    Fault("the last of consecutive blocks is not read", "emdiam/stream/pager.py",
          "= int(blocks[begin]), int(blocks[end - 1]) + 1, end",
          "= int(blocks[begin]), max(int(blocks[begin]) + 1, int(blocks[end - 1])), end", _ENGINE),
    Fault("every batch of a run is its first blocks", "emdiam/stream/pager.py",
          "            first += n_blocks\n", "", ("tests/stream/test_pager.py",)),
    Fault("long rows of a group count those of groups before it", "emdiam/stream/offsets.py",
          "beyond[1:] - beyond[begin[which]]", "beyond[1:]", ("tests/stream/test_offsets.py",)),
    Fault("a block some of whose rows had no place counts as put aside", "emdiam/traverse/rows_aside.py",
          "kept[chunks[k]] = not cursor[_FAILED]", "kept[chunks[k]] = True", ("tests/traverse/test_rows_aside.py",)),
    Fault("rows of unvisited vertices are dropped with others", "emdiam/traverse/rows_aside.py",
          "if not hit or 4 * dead <= end:", "if not hit and 4 * dead <= end:", ("tests/traverse/test_rows_aside.py",)),
    Fault("a row that goes on in another segment is left out there", "emdiam/traverse/rows_aside.py",
          "        while begin < end and at <= last:", "        while begin < end:\n            if at > last:\n"
          "                begin = end\n                break", ("tests/traverse/test_rows_aside.py",)),
)
