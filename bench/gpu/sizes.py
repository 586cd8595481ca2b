"""How large the inputs and how many the repetitions of a run are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Sizes:
    """One scale of the whole benchmark.

    copy_bytes : of a bandwidth measurement. launches, barriers : repetitions where a latency is measured.
    verify_vertices : about, of each graph that results are verified on. kronecker_scale, grid_side,
    web_vertices, circuit_side : of the graphs that are timed. sources : of a BFS that is timed. repeats : of
    one kernel. list_vertices, list_lengths, list_actives : equal-length lists (papers/001, Figure 9).
    frontier_rows, frontier_arcs : synthetic frontiers; frontier_most : most arcs of one. cell_seconds : a cell
    that takes longer is stopped and marked. paged, exact, dal_exact : class (of inputs.SIZED) -> size, of the
    graphs of these parts; stored_less : by how many powers of two the paged Kronecker graph that comes from a store
    is smaller; block_items : ids of a block. paged_seconds, exact_seconds : of one run of these parts. weighted : class
    -> size, of the graphs of that part, and under "matrix" the side of a matrix.
    """

    copy_bytes: int
    launches: int
    barriers: int
    verify_vertices: int
    kronecker_scale: int
    grid_side: int
    web_vertices: int
    circuit_side: int
    sources: int
    repeats: int
    list_vertices: int
    list_lengths: tuple[int, ...]
    list_actives: tuple[int, ...]
    frontier_rows: tuple[int, ...]
    frontier_arcs: tuple[int, ...]
    frontier_most: int
    cell_seconds: float
    paged: Mapping[str, int]
    stored_less: int
    exact: Mapping[str, int]
    dal_exact: Mapping[str, int]
    block_items: int
    paged_seconds: float
    exact_seconds: float
    weighted: Mapping[str, int]


SIZES: Mapping[str, Sizes] = {
    "full": Sizes(1 << 30, 2000, 2000, 1 << 14, 24, 4096, 1 << 22, 2048, 5, 5, 1 << 20,
                  (8, 16, 32, 64, 128, 256, 512), tuple(1 << k for k in range(8, 21, 2)),
                  tuple(1 << k for k in range(4, 23, 3)), (2, 8, 32, 128, 512, 2048, 8192), 1 << 26, 3.0,
                  {"kronecker": 24, "web": 1 << 24, "grid": 2048}, 2,
                  {"kronecker": 22, "web": 1 << 22, "triangulation": 2048, "grid": 2048},
                  {"kronecker": 20, "web": 1 << 20, "circuit": 1024, "triangulation": 512, "grid": 512},
                  1 << 16, 6.0, 12.0, {"kronecker": 22, "grid": 2048, "matrix": 4096}),
    "small": Sizes(1 << 26, 500, 500, 1 << 11, 18, 512, 1 << 17, 256, 3, 3, 1 << 16,
                   (8, 32, 128), (1 << 8, 1 << 12, 1 << 16), (16, 1024, 65536), (4, 64, 1024), 1 << 22, 1.0,
                   {"kronecker": 20, "web": 1 << 18, "grid": 256}, 1,
                   {"kronecker": 18, "web": 1 << 17, "grid": 512},
                   {"kronecker": 16, "web": 1 << 15, "grid": 128}, 1 << 14, 10.0, 10.0,
                   {"kronecker": 16, "grid": 256, "matrix": 512}),
    # What the tests run on a CPU; not to be had from the command line.
    "toy": Sizes(1 << 12, 2, 3, 48, 5, 6, 48, 6, 1, 1, 64, (4, 40), (8, 64), (3, 40), (2, 33), 2000, 60.0,
                 {"kronecker": 9, "grid": 8}, 0, {"kronecker": 6, "grid": 5}, {"kronecker": 5, "web": 40, "grid": 5},
                 64, 60.0, 60.0, {"kronecker": 5, "grid": 5, "matrix": 20}),
}
