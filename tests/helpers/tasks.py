"""Tasks by the options of the command line, run in this process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from emdiam.progress import Listener
from emdiam.runs.task import Session, execute, task_of
from emdiam.store.store import Store


def distances(store: Store | str | Path, options: Mapping[str, Any], progress: Listener | None = None) -> Any:
    """How distances by numbers of edges are distributed."""
    return execute(store, task_of("distances", options), progress)


def distances_directed(store: Store | str | Path, options: Mapping[str, Any], progress: Listener | None = None) -> Any:
    """The same along arcs."""
    return execute(store, task_of("distances", {**options, "directed": True}), progress)


def solve_directed(store: Store | str | Path, method: str, options: Mapping[str, Any],
                   progress: Listener | None = None) -> Any:
    """The largest finite distance along arcs."""
    return execute(store, task_of("exact", {**options, "directed": True}, method), progress)


def eccentricities_directed(store: Store | str | Path, direction: str, options: Mapping[str, Any],
                            progress: Listener | None = None) -> Any:
    """Eccentricities along arcs, or against them."""
    return execute(store, task_of("ecc", {**options, "directed": direction}), progress)


def along_arcs(store: Store, options: Mapping[str, Any]) -> Session:
    """A session of a task along arcs."""
    return Session(store, task_of("exact", {**options, "directed": True}))
