"""What --device, --workers and --scheduler ask for, and what there is to say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .output import complain

if TYPE_CHECKING:
    from ..dask.setting import OnCluster
    from ..gpu.select import Selection


def chosen_device(text: str) -> Selection:
    """The device; where auto finds no GPU, a line on standard error says why. Raises InputError."""
    from ..gpu.select import select_device

    selected = select_device(text)
    if selected.note:
        complain(f"emdiam: computing on the CPU: {selected.note}")
    return selected


def chosen_workers(given: dict[str, Any]) -> OnCluster | None:
    """The workers that options.workers ask for; None: this process. Raises InputError."""
    from ..dask.setting import chosen_cluster

    return chosen_cluster(given["scheduler"], given["workers"], given["worker_memory"], given["worker_threads"])
