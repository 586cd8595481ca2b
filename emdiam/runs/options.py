"""From options by the names of the command line to a Run; the command line and the Python interface share them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..checkpoint.options import OPTIONS as CHECKPOINT
from ..checkpoint.options import chosen_checkpoint
from ..dask.setting import chosen_cluster
from ..units import available_cores, parse_duration, parse_size
from .registry import entry_of
from .run import Run, make_run

# Option -> argument of make_run, and what reads it.
_FIELDS = {
    "memory": ("memory_bytes", parse_size), "arena": ("arena_bytes", parse_size), "threads": ("threads", None),
    "device": ("device", None), "bfs": ("bfs", None), "mapping": ("mapping", None), "vram": ("vram_bytes", parse_size),
    "evict_page_cache": ("evict_page_cache", None), "certificate": ("certificate", Path),
    "time_limit": ("time_limit", parse_duration), "gap": ("gap", None), "bounds_only": ("bounds_only", None),
}
_CLUSTER = ("scheduler", "workers", "worker_memory", "worker_threads")
SHARED = (*_FIELDS, *_CLUSTER, *CHECKPOINT)


def run_with(method: str, options: Mapping[str, Any], family: str | None = None) -> Run:
    """The run of a method with the options, by the names of the command line; None counts as not given. Those that are
    not of every run are the method's own. family : "exact" or "approx", if it must be one of them.

    checkpoint : a folder, or CheckpointOptions. Sizes and times are numbers or texts. Raises InputError for a text
    that is no size, an unknown method, and an option that it has not."""
    entry_of(method, family)
    given = {name: value for name, value in options.items() if value is not None}
    fields: dict[str, Any] = {"threads": available_cores()}
    for name, (field, read) in _FIELDS.items():
        if name in given:
            fields[field] = given[name] if read is None else read(given[name])
    memory = given.get("worker_memory")
    fields["cluster"] = chosen_cluster(given.get("scheduler"), given.get("workers"),
                                       None if memory is None else parse_size(memory), given.get("worker_threads"))
    fields["checkpoint"] = chosen_checkpoint(given)
    switches = {{"path": "path_file"}.get(name, name): value for name, value in given.items() if name not in SHARED}
    if "path_file" in switches:
        switches["path_file"] = Path(switches["path_file"])
    return make_run(method, switches, family=family, **fields)
