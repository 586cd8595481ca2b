"""What papers/001 (Dal, Kosters, Takes, 2014) reports beside what bench/gpu/dal_paper.py has: the columns of Table II
that describe the graphs."""

from __future__ import annotations

from typing import NamedTuple


class Described(NamedTuple):
    """Kind (1 to 8, see KINDS), vertices and edges of the largest component, triangles, and the column C."""

    kind: int
    vertices: int
    edges: int
    triangles: int
    clustering: float


KINDS = {1: "social", 2: "communication", 3: "citation", 4: "web", 5: "co-purchasing", 6: "road",
         7: "autonomous systems",
         8: "collaboration"}
GRAPHS: dict[str, Described] = {
    "Amazon0601": Described(5, 403364, 3387224, 3986507, 1.1769),
    "as-skitter": Described(7, 1694616, 11094209, 28769868, 2.5932),
    "cit-Patents": Described(3, 3764117, 16511741, 7515023, 0.4551),
    "com-amazon": Described(5, 334863, 925872, 667129, 0.7205),
    "com-dblp": Described(8, 317080, 1049866, 2224385, 2.1187),
    "com-LiveJournal": Described(1, 3997962, 34681189, 177820130, 5.1273),
    "com-youtube": Described(1, 1134890, 2987624, 3056386, 1.0230),
    "Email-EuAll": Described(2, 224832, 395270, 267313, 0.6763),
    "roadNet-CA": Described(6, 1957027, 5520776, 120676, 0.0219),
    "roadNet-PA": Described(6, 1087562, 3083028, 67150, 0.0218),
    "roadNet-TX": Described(6, 1351137, 3758402, 82869, 0.0220),
    "soc-LiveJournal1": Described(1, 4843953, 68983820, 285730264, 4.1420),
    "soc-Pokec": Described(1, 1632803, 30622564, 32557458, 1.0632),
    "web-BerkStan": Described(4, 654782, 7499425, 64690980, 8.6261),
    "web-Google": Described(4, 855802, 5066842, 13391903, 2.6430),
    "web-NotreDame": Described(4, 325729, 1497134, 8910005, 5.9514),
    "web-Stanford": Described(4, 255265, 2234572, 11329473, 5.0701),
    "WikiTalk": Described(2, 2388953, 5018445, 9203519, 1.8339),
}
