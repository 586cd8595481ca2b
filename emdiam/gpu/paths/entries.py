"""The entries of kernels/paths/*.cu, as those of gpu/registry.py, which says what they are checked for."""

from __future__ import annotations

from ..mappings import DEFERRED_ROWS, MAPPINGS
from ..registry import GRAPHS, IDS, Entry, combinations, mapping_builds, on_graphs, plain
from ..source import Defines

# Types of a weight, and of the length of a path, which is u64 along integers and double along floats.
WEIGHTS = ("u32", "float", "double")
# Types of a cell of a matrix.
CELLS = ("i32", "i64", "double")
# Layouts of one's own places, which are u64.
PLACED = ("LAYOUT_LISTS", "LAYOUT_ELL")
# The load balancing of workfront sweep by merge path, of near-far and of delta-stepping, and that of BFS-4K.
USUAL, BY_DEGREE = "two-phase", "dynamic-warps"
HBF_MAPPINGS = (USUAL, BY_DEGREE)
TILES = (32, 64)
_WEIGHTED = on_graphs(WEIGHT=WEIGHTS)
# Arcs as pairs have words of 32 bits.
PAIRED: tuple[Defines, ...] = combinations(VERTEX=("u32",), INDEX=IDS, WEIGHT=("u32", "float"), PAIRS=(1,))
_ROWS = (*_WEIGHTED, *PAIRED)
_HARISH = (*({**one, "LAYOUT": "LAYOUT_ROWS"} for one in _ROWS),
           *combinations(VERTEX=IDS, INDEX=("u64",), WEIGHT=WEIGHTS, LAYOUT=PLACED),
           *combinations(VERTEX=IDS, INDEX=("u64",), WEIGHT=("i64", "double"), LAYOUT=("LAYOUT_MATRIX",)))
_SWEEP = (*mapping_builds(tuple(MAPPINGS), _WEIGHTED), *({**one, "MAPPING": DEFERRED_ROWS} for one in _WEIGHTED),
          *mapping_builds([USUAL], PAIRED))
_LABELS = (*({**one, "PACKED_LABELS": 0} for one in _ROWS),
           *({**one, "PACKED_LABELS": 1} for one in _ROWS if one["WEIGHT"] == "u32"))
_HBF = (*mapping_builds(HBF_MAPPINGS, _LABELS), *({**one, "MAPPING": DEFERRED_ROWS} for one in _LABELS))
_MATRICES = tuple({**graph, "WEIGHT": weight, "CELL": cell} for graph in GRAPHS for weight, cell in (
    ("u32", "i32"), ("u32", "i64"), ("float", "double"), ("double", "i32"), ("double", "i64"), ("double", "double")))
_TILED = combinations(CELL=CELLS, TILE=TILES)

ENTRIES: tuple[Entry, ...] = (
    # From one source.
    *plain("paths/harish.cu", "harish_relax", "edges_relax", "reverse_relax", "harish_commit", builds=_HARISH,
           registers=48),
    Entry("paths/workfront_sweep.cu", "sweep_workfront", registers=80, builds=_SWEEP),
    *plain("paths/near_far.cu", "near_far_relax", "near_far_least", "near_far_split",
           builds=mapping_builds([USUAL], _ROWS), registers=48),
    *plain("paths/hbf.cu", "count_arcs_in", "classify_arcs", "hbf_relax", builds=_HBF, registers=48),
    *plain("paths/delta_stepping.cu", "delta_relax", "delta_take", "delta_settle", "delta_least", "delta_share_out",
           builds=mapping_builds([USUAL], _ROWS), registers=64),
    *plain("paths/layouts.cu", "pair_arcs", "copy_weights", "count_heads", "offsets_of_sums", "turn_arcs",
           "fill_matrix",
           builds=_MATRICES),
    # Between all pairs: cells wait in registers, 16 of each thread.
    *plain("paths/floyd_warshall.cu", "floyd_warshall_step", "floyd_warshall_diagonal", "floyd_warshall_cross",
           "floyd_warshall_rest", builds=_TILED, registers=128),
    Entry("paths/floyd_warshall_single.cu", "floyd_warshall_single", builds=_TILED, registers=128, cooperative=True),
    Entry("paths/min_plus.cu", "min_plus_product", registers=128,
          builds=combinations(CELL=CELLS, TILE=TILES, LAZY=(0, 1))),
)
