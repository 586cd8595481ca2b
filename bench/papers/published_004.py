"""What papers/004 (Busato and Bombieri, graph algorithms on GPUs) reports in text: Table 2, the graphs that it names
for its figures, and what it says of them; bars and curves are drawn without figures."""

from __future__ import annotations

from typing import NamedTuple


class Implementation(NamedTuple):
    """A column of Table 2, and the names of our variants of it."""

    work: str
    space: str
    parallelism: str
    high_degree: str
    duplicates: str
    synchronization: str
    ours: tuple[str, ...]


TABLE_2: dict[str, Implementation] = {
    "Harish [25]": Implementation("O(V D + E)", "O(3 V + E)", "vertices", "no", "no", "host-device", ("harish",)),
    "Virtual warps [18]": Implementation("O(V D + E)", "O(2 V + E)", "virtual warps", "yes", "no", "host-device",
                                         ("virtual-warps",)),
    "Edge parallelism [21]": Implementation("O(E D)", "O(2 E)", "edges", "indifferent", "no", "host-device", ("edges",
                                            )),
    "Luo [17]": Implementation("O(V + E)", "not given", "vertices", "no", "no", "host-device, inter-block, barriers",
                               ("luo",)),
    "Garland [16]": Implementation("O(V + E)", "at least 4 V + 2 E", "vertices, edges, CTA", "yes", "yes",
                                   "host-device, inter-block",
                                   ("merrill-expand-contract", "merrill-contract-expand", "merrill-two-phase",
                                    "merrill-hybrid")),
    "BFS-4K [15]": Implementation("O(V + E)", "at least 4 V + E", "vertices, edges, dynamic virtual warps, dynamic"
                                                                  " parallelism",
                                  "yes", "yes", "host-device, inter-block, barriers", ("bfs-4k",)),
}
# Figures 12 to 15: the graph, and which mapping is the best one and which come next.
FIGURES = {
    "Figure 12": ("a regular graph of small degree", "work-items to threads", "multi-phase"),
    "Figure 13": ("web-NotreDame", "multi-phase", "virtual warps, two-phase (twice as long)"),
    "Figure 14": ("circuit5M", "multi-phase", "CTA+Warp+Scan, two-phase (static ones ten times as long)"),
    "Figure 15": ("kron_g500-logn20", "CTA+Warp+Scan", "multi-phase (comparable)"),
}
