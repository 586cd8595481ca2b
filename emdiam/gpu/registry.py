"""Every entry of every kernel file, with the macros it is built with and what it may use.

ENTRIES are those of kernels/*.cu, the path that `auto` takes. Those of kernels/variants/*.cu stand beside the
variants (variants/registry.py), those of kernels/paths/*.cu beside what searches along weights (paths/entries.py); both
are imported when one of their entries is asked for.

The compile test builds all of them for sm_90 and compares: an entry that is not listed, or listed and not
there, registers above the budget, and spills are failures.
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
# Files of the variants, and of shortest paths along weights, are in these folders of kernels/.
VARIANTS, PATHS = "variants/", "paths/"
LABEL_MAPPING = "two-phase"


@dataclass(frozen=True)
class Entry:
    """One function of a kernel file.

    file : in emdiam/gpu/kernels. entry : its name. block : threads of a block in launches, a multiple of 32
    and at most what __launch_bounds__ states. registers : most a thread may use. builds : sets of macros
    under which it is built; all entries of a file that share a set come from one compilation.
    cooperative : whether it needs a cooperative launch.
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
# Of 512, 1,024 and 2,048 sources.
_WIDE = on_graphs(WORDS=(8, 16, 32))


def mapping_builds(names: Sequence[str], others: Sequence[Defines] = GRAPHS) -> tuple[Defines, ...]:
    """The macros of each of these mappings with the usual values of its knobs, with each of the other sets."""
    return tuple({**other, "MAPPING": MAPPINGS[name].macro, **MAPPINGS[name].tuning}
                 for name in names for other in others)


def mapped(file: str, *entries: str, others: Sequence[Defines] = GRAPHS, **options: Any) -> tuple[Entry, ...]:
    """Entries of a file that is built with every mapping (papers/004, section 5), and for deferred rows.

    Budget: 80 registers, for multi-phase search of wide ids, whose arcs wait in registers; others take 22 to 40.
    """
    builds = (*mapping_builds(tuple(MAPPINGS), others), *({**other, "MAPPING": DEFERRED_ROWS} for other in others))
    return plain(file, *entries, builds=builds, **{"registers": 80, **options})


def plain(file: str, *entries: str, **options: Any) -> tuple[Entry, ...]:
    """Entries of one file that differ in their names alone. options : other fields of Entry."""
    return tuple(Entry(file, entry, **options) for entry in entries)


ENTRIES: tuple[Entry, ...] = (
    # Frontiers and their load balancing.
    *plain("frontier.cu", "frontier_degrees", "partition_rows", "arcs_of_queue", "words_of_queue", "queue_of_words",
           "queue_of_value", "admit_seeds", builds=GRAPHS),
    # BFS, all levels in one launch. One block a multiprocessor, of as many threads as registers let it have: 1,024 of
    # 64, and fewer with wide offsets and on sm_100; the bounds of the launch keep them to it.
    Entry("bfs_whole.cu", "whole_search", block=512, registers=112, builds=GRAPHS, cooperative=True),
    # BFS, level by level. One block a multiprocessor: about half of the registers that its threads may have.
    Entry("bfs_persistent.cu", "persistent_levels", block=512, registers=72, builds=GRAPHS, cooperative=True),
    Entry("bfs_bitmaps.cu", "bottom_up_words", registers=64, builds=GRAPHS),
    *plain("bfs_bitmaps.cu", "isolated_words", "start_search", "visited_words", builds=GRAPHS),
    *mapped("bfs_top_down.cu", "top_down_bits", "reach_words", "mark_words"),
    # Arcs that are paged.
    Entry("paging.cu", "page_activity", registers=48, builds=GRAPHS),
    *plain("paging.cu", "rows_of_range", "read_sectors", builds=GRAPHS),
    # Many sources, spreads and labels.
    *mapped("multi_source.cu", "push_bits", others=_WORDS),
    *plain("multi_source_levels.cu", "seed_bits", "write_levels", builds=_WORDS),
    Entry("multi_source_levels.cu", "pull_bits", registers=64, builds=_WORDS),
    Entry("multi_source_levels.cu", "settle_bits", registers=40, builds=_WORDS),
    Entry("multi_source_whole.cu", "whole_batch", registers=80, builds=_WORDS, cooperative=True),
    Entry("multi_source_wide.cu", "wide_batch", registers=80, builds=_WIDE, cooperative=True),
    *mapped("spread.cu", "spread_level"),
    Entry("spread_whole.cu", "whole_spread", registers=64, builds=GRAPHS, cooperative=True),
    Entry("labels.cu", "grow_labels", registers=40, builds=mapping_builds([LABEL_MAPPING])),
    *plain("components.cu", "begin_components", "join_arcs", "name_components", "count_components",
           "describe_components", "first_in_component", registers=40, builds=mapping_builds([LABEL_MAPPING])),
    Entry("rows.cu", "steep_arcs", registers=40, builds=GRAPHS),
    *plain("rows.cu", "walk_down", "largest_degree", "mark_degree", "put_isolated", builds=GRAPHS),
    # Columns, and the bounds that the exact methods keep in them.
    *plain("columns.cu", "column_bits", "column_best", "column_first", "column_reached", "column_count",
           "column_histogram", "column_gather", "column_put", "column_fill_where", "column_recode",
           "column_recode_reached", "select_counts", "select_vertices", "scan_totals_of_parts", "scan_parts"),
    *plain("boxes.cu", "fill_boxes", "box_extent", "left_boxes", "box_members", "member_extent", "drop_members",
           "gather_points"),
    *plain("bounds.cu", "open_where", "tighten_upper", "tighten_lower", "close_where", "close_known"),
    *plain("pivots.cu", "fold_pivot", "choose_pivots", registers=40, builds=combinations(INDEX=IDS)),
)


def all_entries() -> tuple[Entry, ...]:
    """ENTRIES, and those of the variants and of shortest paths, which this imports."""
    return (*ENTRIES, *_of_variants(), *_of_paths())


def _of_variants() -> tuple[Entry, ...]:
    from .variants.registry import ENTRIES as OF_VARIANTS

    return OF_VARIANTS


def _of_paths() -> tuple[Entry, ...]:
    from .paths.entries import ENTRIES as OF_PATHS

    return OF_PATHS


@cache
def find_entry(file: str, entry: str) -> Entry:
    """The registered entry of that name. Raises KeyError if there is none."""
    folders = {VARIANTS: _of_variants, PATHS: _of_paths}
    entries = next((listed for folder, listed in folders.items() if file.startswith(folder)), lambda: ENTRIES)
    for known in entries():
        if (known.file, known.entry) == (file, entry):
            return known
    raise KeyError(f"{entry} of {file} is not in the registry")
