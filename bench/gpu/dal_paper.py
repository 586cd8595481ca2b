"""What papers/001 (Dal, Kosters, Takes, 2014) reports: Table II, Table III, on a GTX 480 against one core of a Xeon
E5620."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Reported(NamedTuple):
    """A row of Table II: diameter, 90-percentile effective diameter, iterations, milliseconds, speedup."""

    diameter: int
    effective: float
    iterations: int
    milliseconds: float
    speedup: float


TABLE_II: Mapping[str, Reported] = {
    "Amazon0601": Reported(21, 7.6, 28, 143.68, 13.34),
    "as-skitter": Reported(25, 5.9, 6, 138.85, 8.75),
    "cit-Patents": Reported(22, 9.4, 111, 4515.64, 21.11),
    "com-amazon": Reported(44, 15, 7, 24.71, 11.95),
    "com-dblp": Reported(22, 8.1, 8, 21.78, 13.56),
    "com-LiveJournal": Reported(18, 6.4, 9, 519.04, 16.12),
    "com-youtube": Reported(21, 6.5, 2, 17.26, 13.66),
    "Email-EuAll": Reported(13, 4.5, 3, 8.95, 5.85),
    "roadNet-CA": Reported(850, 500, 181, 12381.40, 2.45),
    "roadNet-PA": Reported(782, 539, 61, 2508.87, 2.22),
    "roadNet-TX": Reported(1049, 670, 83, 5194.15, 1.84),
    "soc-LiveJournal1": Reported(18, 6.5, 6, 437.18, 16.01),
    "soc-Pokec": Reported(11, 5.3, 3, 110.88, 14.01),
    "web-BerkStan": Reported(669, 10, 5, 153.72, 2.06),
    "web-Google": Reported(22, 8.1, 5, 47.38, 12.25),
    "web-NotreDame": Reported(46, 9.3, 3, 16.35, 4.05),
    "web-Stanford": Reported(740, 9.8, 7, 111.23, 1.88),
    "WikiTalk": Reported(9, 4, 7, 97.02, 11.07),
}
# Component -> per cent of the run time on the GPU, speedup: means over the graphs of Table II, variant Pointers.
TABLE_III: Mapping[str, tuple[float, float]] = {
    "initialization": (0.09, 39.96), "candidate selection": (1.17, 11.70), "eccentricity": (97.13, 5.55),
    "updating bounds": (1.29, 46.59), "updating candidates": (0.31, 46.38),
}
