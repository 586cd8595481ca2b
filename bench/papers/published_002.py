"""What papers/002 (Bradley, Mongandampulath Akathoott, Burtscher, F-Diam, ICPP 2025) reports: Tables 1 to 5, on a
Threadripper 3970X with 32 cores, medians of 9 runs, limit 2.5 hours. None: timeout."""

from __future__ import annotations

from typing import NamedTuple


class Graph(NamedTuple):
    """Table 1: kind, vertices, arcs (both directions), average and largest degree, largest diameter of a component."""

    kind: str
    vertices: int
    arcs: int
    average: float
    largest: int
    diameter: int


class Times(NamedTuple):
    """Table 2: seconds."""

    fdiam_serial: float
    fdiam_parallel: float
    ifub_serial: float | None
    ifub_parallel: float | None
    graph_diameter: float | None


class Traversals(NamedTuple):
    """Table 3; F-Diam counts BFS and Winnow."""

    fdiam: int
    ifub: int | None
    graph_diameter: int | None


class Ablation(NamedTuple):
    """Table 5: BFS without a stage, or from vertex 0 in place of the one of the largest degree."""

    no_winnow: int | None
    no_eliminate: int | None
    no_u: int | None


TABLE_1: dict[str, Graph] = {
    "2d-2e20.sym": Graph("grid", 1_048_576, 4_190_208, 4.0, 4, 2_046),
    "amazon0601": Graph("product co-purchases", 403_394, 4_886_816, 12.1, 2_752, 25),
    "as-skitter": Graph("Internet topology", 1_696_415, 22_190_596, 13.1, 35_455, 31),
    "citationCiteseer": Graph("publication citations", 268_495, 2_313_294, 8.6, 1_318, 36),
    "cit-Patents": Graph("patent citations", 3_774_768, 33_037_894, 8.8, 793, 26),
    "coPapersDBLP": Graph("publication citations", 540_486, 30_491_458, 56.4, 3_299, 23),
    "delaunay_n24": Graph("triangulation", 16_777_216, 100_663_202, 6.0, 26, 1_722),
    "europe_osm": Graph("road map", 50_912_018, 108_109_320, 2.1, 13, 30_102),
    "in-2004": Graph("web links", 1_382_908, 27_182_946, 19.7, 21_869, 43),
    "internet": Graph("Internet topology", 124_651, 387_240, 3.1, 151, 30),
    "kron_g500-logn21": Graph("Kronecker", 2_097_152, 182_081_864, 86.8, 213_904, 7),
    "rmat16.sym": Graph("RMAT", 65_536, 967_866, 14.8, 569, 14),
    "rmat22.sym": Graph("RMAT", 4_194_304, 65_660_814, 15.7, 3_687, 18),
    "soc-LiveJournal1": Graph("journal community", 4_847_571, 85_702_474, 17.7, 20_333, 20),
    "uk-2002": Graph("web links", 18_520_486, 523_574_516, 28.3, 194_955, 45),
    "USA-road-d.NY": Graph("road map", 264_346, 730_100, 2.8, 8, 720),
    "USA-road-d.USA": Graph("road map", 23_947_347, 57_708_624, 2.4, 9, 8_440),
}
TABLE_2: dict[str, Times] = {
    "2d-2e20.sym": Times(0.885, 0.138, None, None, 3.285),
    "amazon0601": Times(0.169, 0.019, 259.004, 94.916, 3.983),
    "as-skitter": Times(0.296, 0.051, 451.391, 402.688, 5.959),
    "citationCiteseer": Times(0.192, 0.026, 187.226, 71.575, 2.098),
    "cit-Patents": Times(3.520, 0.209, None, None, 705.259),
    "coPapersDBLP": Times(0.417, 0.028, 761.575, 203.028, 3.426),
    "delaunay_n24": Times(2017.863, 116.999, None, None, None),
    "europe_osm": Times(52.169, 5.095, None, None, 219.913),
    "in-2004": Times(1.018, 0.204, 728.197, 336.903, 5.098),
    "internet": Times(0.011, 0.003, 46.813, 26.922, 0.192),
    "kron_g500-logn21": Times(8.394, 1.175, None, None, 210.495),
    "rmat16.sym": Times(0.009, 0.003, 14.985, 12.893, 0.176),
    "rmat22.sym": Times(2.740, 0.132, 1772.274, 1226.946, 58.329),
    "soc-LiveJournal1": Times(3.610, 0.262, 2024.930, 1541.236, 448.948),
    "uk-2002": Times(19.369, 1.690, None, None, 123.839),
    "USA-road-d.NY": Times(0.077, 0.053, None, None, 0.650),
    "USA-road-d.USA": Times(18.548, 2.914, None, None, 90.976),
}
TABLE_3: dict[str, Traversals] = {
    "2d-2e20.sym": Traversals(10, None, 6), "amazon0601": Traversals(15, 19, 35), "as-skitter": Traversals(44, 7, 767),
    "citationCiteseer": Traversals(12, 22, 27), "cit-Patents": Traversals(788, None, 4154),
    "coPapersDBLP": Traversals(11, 38, 10), "delaunay_n24": Traversals(3151, None, None),
    "europe_osm": Traversals(22, None, 29), "in-2004": Traversals(102, 15, 122), "internet": Traversals(3, 14, 14),
    "kron_g500-logn21": Traversals(37, None, 264), "rmat16.sym": Traversals(3, 7, 158),
    "rmat22.sym": Traversals(67, 11, 19285), "soc-LiveJournal1": Traversals(198, 10, 1172),
    "uk-2002": Traversals(481, None, 1090), "USA-road-d.NY": Traversals(17, None, 26),
    "USA-road-d.USA": Traversals(26, None, 31),
}
# Per cent of the vertices that Winnow, Eliminate and Chain Processing remove, and of those without an edge.
TABLE_4: dict[str, tuple[float, float, float, float]] = {
    "2d-2e20.sym": (75.74, 24.25, 0.0, 0.0), "amazon0601": (99.98, 0.01, 0.0, 0.0),
    "as-skitter": (99.89, 0.0, 0.04, 0.0), "citationCiteseer": (99.99, 0.0, 0.0, 0.0),
    "cit-Patents": (99.72, 0.0, 0.15, 0.0), "coPapersDBLP": (99.99, 0.0, 0.0, 0.0),
    "delaunay_n24": (82.46, 17.53, 0.0, 0.0), "europe_osm": (97.23, 0.85, 1.50, 0.0),
    "in-2004": (97.89, 1.27, 0.83, 0.0), "internet": (99.99, 0.0, 0.0, 0.0),
    "kron_g500-logn21": (73.62, 0.0, 0.0, 26.37), "rmat16.sym": (93.81, 0.0, 0.22, 5.72),
    "rmat22.sym": (89.27, 0.0, 0.46, 9.76), "soc-LiveJournal1": (99.92, 0.0, 0.02, 0.01),
    "uk-2002": (99.67, 0.06, 0.05, 0.20), "USA-road-d.NY": (98.79, 0.52, 0.67, 0.0),
    "USA-road-d.USA": (71.11, 14.03, 14.23, 0.0),
}
TABLE_5: dict[str, Ablation] = {
    "2d-2e20.sym": Ablation(12, None, 10), "amazon0601": Ablation(605, 71, 30), "as-skitter": Ablation(1382, 92, 44),
    "citationCiteseer": Ablation(432, 12, 24), "cit-Patents": Ablation(11234, 984, 2597),
    "coPapersDBLP": Ablation(491, 13, 44), "delaunay_n24": Ablation(6351, None, 4700),
    "europe_osm": Ablation(37, None, 17), "in-2004": Ablation(161, 17722, 105), "internet": Ablation(3021, 3, 1088),
    "kron_g500-logn21": Ablation(28372, 37, 25348), "rmat16.sym": Ablation(2095, 3, 151),
    "rmat22.sym": Ablation(57374, 68, 277), "soc-LiveJournal1": Ablation(12465, 633, 203),
    "uk-2002": Ablation(962, 12914, 764), "USA-road-d.NY": Ablation(26, 1407, 91),
    "USA-road-d.USA": Ablation(47, None, 105),
}
# The text: Figure 7's gain of 32 threads, Figure 9's geometric means of the speed without a stage.
GAIN_OF_32, SPEED_WITHOUT = 7.67, {"no_winnow": 0.02, "no_u": 0.17, "no_eliminate": 0.22}
