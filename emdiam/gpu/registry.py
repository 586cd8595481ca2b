"""All entries of all kernel files, with their macros and limits.

kernels/*.cu are the path of `auto`; kernels/variants/*.cu and kernels/paths/*.cu belong to systems that are chosen by
name.

The compile test builds all entries for sm_90 and fails for unlisted or missing entries, for registers above the limit,
and for spills.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any

from .mappings import DEFERRED_ROWS, MAPPINGS
from .source import Define, Defines

IDS = ("u32", "u64")
DISTANCES = ("u8", "u16", "u32")
# dtype -> value of the macros VERTEX, INDEX and DISTANCE.
KERNEL_TYPES = {"uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64"}
# Files of variants are in this folder of kernels/, files of shortest paths along weights in paths/.
VARIANTS = "variants/"
LABEL_MAPPING = "two-phase"


@dataclass(frozen=True)
class KernelEntry:
    """One function of a kernel file.

    file : in emdiam/gpu/kernels. entry : its name. block : threads of a block in launches, a multiple of 32 and at most
    __launch_bounds__. registers : largest number a thread. builds : sets of macros; all entries of a file that share a
    set come from one compilation. cooperative : whether it needs a cooperative launch.
    """

    file: str
    entry: str
    block: int = 256
    registers: int = 32
    builds: tuple[Defines, ...] = ({},)
    cooperative: bool = False


def combinations(**values: tuple[Define, ...]) -> tuple[Defines, ...]:
    """All combinations of values of macros: combinations(VERTEX=("u32", "u64")) -> two sets of defines."""
    return tuple(dict(zip(values, chosen, strict=True)) for chosen in product(*values.values()))


# The types of a graph: rows of wide ids have wide offsets (graph.py, offsets_dtype).
GRAPHS: tuple[Defines, ...] = (*combinations(VERTEX=("u32",), INDEX=IDS), {"VERTEX": "u64", "INDEX": "u64"})


def on_graphs(**values: tuple[Define, ...]) -> tuple[Defines, ...]:
    """All combinations of values of macros, with all types of a graph."""
    return tuple({**graph, **chosen} for graph in GRAPHS for chosen in combinations(**values))


_WORDS = on_graphs(WORDS=(1, 2, 4, 8))
# Batches of 512, 1,024 and 2,048 sources.
_WIDE = on_graphs(WORDS=(8, 16, 32))


def mapping_builds(names: Sequence[str], others: Sequence[Defines] = GRAPHS) -> tuple[Defines, ...]:
    """The macros of each mapping with the defaults of its knobs, combined with each of the other sets."""
    return tuple({**other, "MAPPING": MAPPINGS[name].macro, **MAPPINGS[name].tuning}
                 for name in names for other in others)


def mapped(file: str, *entries: str, others: Sequence[Defines] = GRAPHS, **options: Any) -> tuple[KernelEntry, ...]:
    """Entries of a file that is built with every mapping (papers/004, section 5), and for deferred rows.

    Limit: 80 registers, for multi-phase search with wide ids, which has arcs in registers; others take 22 to 40.
    """
    builds = (*mapping_builds(tuple(MAPPINGS), others), *({**other, "MAPPING": DEFERRED_ROWS} for other in others))
    return plain(file, *entries, builds=builds, **{"registers": 80, **options})


def plain(file: str, *entries: str, **options: Any) -> tuple[KernelEntry, ...]:
    """Entries of one file that differ only in their names. options : other fields of KernelEntry."""
    return tuple(KernelEntry(file, entry, **options) for entry in entries)


# Types of a weight. The length of a path is u64 for integers and double for floats.
WEIGHTS = ("u32", "float", "double")
# Types of a cell of a matrix.
CELLS = ("i32", "i64", "double")
# Layouts with their own positions, which are u64.
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
_DAL_BUILDS = on_graphs(DISTANCE=DISTANCES, MATRIX=(0, 1))

ENTRIES: tuple[KernelEntry, ...] = (
    # Frontiers and their load balancing.
    *plain("frontier.cu", "frontier_degrees", "partition_rows", "arcs_of_queue", "words_of_queue", "queue_of_words",
           "queue_of_value", "admit_seeds", builds=GRAPHS),
    # BFS, all levels in one launch. One block a multiprocessor, with the number of threads that the registers allow:
    # 1,024 with 64 registers, fewer with wide offsets and on sm_100; __launch_bounds__ limits the registers.
    *plain("bfs_whole.cu", "whole_search", block=512, registers=112, builds=GRAPHS, cooperative=True),
    # BFS, level by level. One block a multiprocessor, with about half of the possible registers.
    *plain("bfs_persistent.cu", "persistent_levels", block=512, registers=72, builds=GRAPHS, cooperative=True),
    *plain("bfs_bitmaps.cu", "bottom_up_words", "pull_masks", registers=64, builds=GRAPHS),
    *plain("bfs_bitmaps.cu", "isolated_words", "start_search", "visited_words", builds=GRAPHS),
    *mapped("bfs_top_down.cu", "top_down_bits", "reach_words", "mark_words"),
    # Paged arcs.
    *plain("paging.cu", "page_activity", registers=48, builds=GRAPHS),
    *plain("paging.cu", "rows_of_range", "read_sectors", builds=GRAPHS),
    # Many sources, spreads and labels.
    *mapped("multi_source.cu", "push_bits", others=_WORDS),
    *plain("multi_source_levels.cu", "seed_bits", "write_levels", builds=_WORDS),
    *plain("multi_source_levels.cu", "pull_bits", registers=64, builds=_WORDS),
    *plain("multi_source_levels.cu", "settle_bits", registers=40, builds=_WORDS),
    *plain("multi_source_whole.cu", "whole_batch", registers=80, builds=_WORDS, cooperative=True),
    *plain("multi_source_wide.cu", "wide_batch", registers=80, builds=_WIDE, cooperative=True),
    *mapped("spread.cu", "spread_level"),
    *plain("spread_whole.cu", "whole_spread", registers=64, builds=GRAPHS, cooperative=True),
    *plain("labels.cu", "grow_labels", registers=40, builds=mapping_builds([LABEL_MAPPING])),
    *plain("components.cu", "begin_components", "join_arcs", "name_components", "count_components",
           "describe_components", "first_in_component", registers=40, builds=mapping_builds([LABEL_MAPPING])),
    *plain("rows.cu", "steep_arcs", registers=40, builds=GRAPHS),
    *plain("rows.cu", "walk_down", "largest_degree", "mark_degree", "put_isolated", builds=GRAPHS),
    # Columns, and the bounds of exact methods.
    *plain("columns.cu", "column_bits", "column_best", "column_first", "column_reached", "column_count",
           "column_histogram", "column_gather", "column_put", "column_fill_where", "column_recode",
           "column_recode_reached", "select_counts", "select_vertices", "scan_totals_of_parts", "scan_parts"),
    *plain("boxes.cu", "fill_boxes", "box_extent", "left_boxes", "box_members", "member_extent", "drop_members",
           "gather_points", "gather_values", "gather_above", "mark_boxes"),
    *plain("bounds.cu", "open_where", "tighten_upper", "tighten_lower", "close_where", "close_known"),
    *plain("pivots.cu", "fold_pivot", "choose_pivots", registers=40, builds=combinations(INDEX=IDS)),
    *plain("arc_bounds.cu", "fold_arcs", "extreme_key", "extreme_vertex", "central_key", "central_vertex",
           "put_values"),
    # papers/004: the algorithms of section 2, and frontiers with the mappings of section 5.
    *mapped("variants/bfs_frontier.cu", "expand_frontier"),
    *plain("variants/bfs_topology.cu", "harish_expand", "harish_update", "spmv_level", "arc_tails", "edges_level",
           "hong_level", builds=GRAPHS),
    *plain("variants/bfs_directions.cu", "top_down_level", "bottom_up_level", builds=GRAPHS),
    *mapped("variants/bfs_luo.cu", "luo_level"),
    *mapped("variants/bfs_luo.cu", "luo_levels_block", registers=48),
    *mapped("variants/bfs_luo.cu", "luo_levels_grid", registers=40, cooperative=True),
    *mapped("variants/bfs_merrill.cu", "merrill_expand", "merrill_expand_contract"),
    *mapped("variants/bfs_merrill.cu", "merrill_contract", "merrill_contract_expand", registers=32),
    *plain("variants/bfs_4k.cu", "bfs4k_virtual_warps", "bfs4k_edge_discover", builds=GRAPHS, registers=40),
    *plain("variants/bfs_4k.cu", "bfs4k_hubs", builds=GRAPHS),
    *plain("variants/bfs_4k.cu", "bfs4k_block", registers=48, builds=GRAPHS),
    # papers/001: variants, layouts, and bounds.
    *plain("variants/bfs_dal.cu", "bfs_standard", "bfs_lists", "bfs_pointers", "bfs_busy_wait", "bfs_textures",
           "bfs_warp", "count_left", builds=_DAL_BUILDS),
    *plain("variants/bounds_dal.cu", "open_bounds", "update_bounds", "largest_bounds", "update_candidates",
           "select_rank", "select_vertex", builds=combinations(DISTANCE=DISTANCES)),
    *plain("variants/layouts.cu", "copy_rows", "row_addresses", builds=GRAPHS),
    # From one source.
    *plain("paths/harish.cu", "harish_relax", "edges_relax", "reverse_relax", "harish_commit", builds=_HARISH,
           registers=48),
    *plain("paths/workfront_sweep.cu", "sweep_workfront", registers=80, builds=_SWEEP),
    *plain("paths/near_far.cu", "near_far_relax", "near_far_least", "near_far_split", "lightest_arcs",
           "shortest_leaving", "sorted_counts", "sorted_places", builds=mapping_builds([USUAL], _ROWS), registers=48),
    *plain("paths/hbf.cu", "count_arcs_in", "classify_arcs", "hbf_relax", builds=_HBF, registers=48),
    *plain("paths/delta_stepping.cu", "delta_relax", "delta_take", "delta_settle", "delta_least", "delta_share_out",
           builds=mapping_builds([USUAL], _ROWS), registers=64),
    *plain("paths/layouts.cu", "pair_arcs", "copy_weights", "count_heads", "offsets_of_sums", "turn_arcs",
           "fill_matrix",
           builds=_MATRICES),
    # Between all pairs: 16 cells a thread in registers.
    *plain("paths/floyd_warshall.cu", "floyd_warshall_step", "floyd_warshall_diagonal", "floyd_warshall_cross",
           "floyd_warshall_rest", builds=_TILED, registers=128),
    *plain("paths/floyd_warshall_single.cu", "floyd_warshall_single", builds=_TILED, registers=128, cooperative=True),
    *plain("paths/min_plus.cu", "min_plus_product", registers=128,
           builds=combinations(CELL=CELLS, TILE=TILES, LAZY=(0, 1))),
)


@cache
def find_entry(file: str, entry: str) -> KernelEntry:
    """The registered entry of this name. Raises KeyError for an unknown one."""
    for known in ENTRIES:
        if (known.file, known.entry) == (file, entry):
            return known
    raise KeyError(f"{entry} of {file} is not in the registry")
