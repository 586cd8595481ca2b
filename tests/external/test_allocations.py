"""With vertex state on disk no array has an entry a vertex: every array that the process makes is looked at."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import emdiam.external.paths  # noqa: F401  (later it would come with large constants)
from emdiam.external.disk import Sizes
from emdiam.runs.registry import METHODS, method_options
from tests.helpers import naive
from tests.helpers.stores import engine_on, write_store

N, TAIL = 1 << 14, 200
# Of a range 128 vertices, of a buffer 512 words.
SIZES = Sizes(1 << 13, 1 << 12, 1 << 7, 1 << 9)
# Entries that are looked at in one go, everywhere.
SMALL = 1 << 9
MAKERS = ("empty", "zeros", "ones", "full", "arange", "concatenate", "empty_like", "zeros_like", "fromiter")
# The cache of blocks, and condensed graphs and their sort, have sizes of their own in the plan.
PLANNED = ("/stream/pager.py", "/sorting/", "/condensed/", "/methods/weighted/")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random graph with a path at one end and small components beside it."""
    rng = np.random.default_rng(8)
    core = N - TAIL - 300
    pairs = rng.integers(0, core, (3 * core, 2)).tolist()
    tail = [(v, v + 1) for v in range(core - 1, core + TAIL - 1)]
    others = [(v, v + 1) for v in range(N - 290, N - 1, 2)]
    return write_store(tmp_path_factory.mktemp("store") / "g.zarr", naive.graph_of(N, pairs + tail + others), chunk=128)


def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no constant hide an array of this small graph."""
    for name, module in list(sys.modules.items()):
        if name.startswith("emdiam."):
            for constant in ("PIECE", "_PIECE", "_DEGREES", "_READ_WORDS", "_BATCH"):
                if isinstance(getattr(module, constant, None), int):
                    monkeypatch.setattr(module, constant, min(SMALL, getattr(module, constant)))


def largest_made(monkeypatch: pytest.MonkeyPatch, work: Callable[[], Any]) -> tuple[int, str]:
    """(bytes, where) of the largest array that numpy makes meanwhile."""
    largest = [(0, "")]

    def watched(maker: Callable[..., Any]) -> Callable[..., Any]:
        def make(*args: Any, **kwargs: Any) -> Any:
            made = maker(*args, **kwargs)
            caller = sys._getframe(1)
            file = caller.f_code.co_filename
            if "/emdiam/" in file and not any(name in file for name in PLANNED) and made.nbytes > largest[0][0]:
                largest[0] = made.nbytes, f"{file}:{caller.f_lineno}"
            return made

        return make

    with monkeypatch.context() as patch:
        for name in MAKERS:
            patch.setattr(np, name, watched(getattr(np, name)))
        work()
    return largest[0]


@pytest.mark.parametrize("method", ["pivots", *(pytest.param(name, marks=pytest.mark.slow)
                                               for name in ("clusters", "sweep", "spanning"))])
def test_no_array_of_an_entry_a_vertex(store: Path, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options = method_options(method, {"masters": 20} if method == "clusters" else {})
    solve = METHODS[method].definition().solve
    small_pieces(monkeypatch)
    with engine_on(store, "external", sizes=SIZES, method=method, arena_bytes=1 << 13) as engine:
        solve(engine, options)  # kernels are compiled before numpy is watched
        size, where = largest_made(monkeypatch, lambda: solve(engine, options))
    assert size < N, where
