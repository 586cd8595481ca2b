"""Figures of the paper on approximation by clusters, to hold ours against.

Source: Ajwani, Beckmann, Meyer, Veith, I/O-efficient approximation of graph diameters by parallel
cluster growing (2012), Tables 1 to 4: a dual core at 2.66 GHz, 4 GB of RAM, four hard disks. Where
their text does not say which column a figure is in, it follows from Table 4, which repeats some.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class PaperCell:
    """One column of Table 3 (condensed graph in RAM) or 4 (semi-external). masters : expected number.
    d : as there, "the maximum distance between two master vertices". edges : of the condensed graph,
    where it is told."""

    masters: int
    estimate: int
    ratio: float
    hours: float
    d: int
    edges: int | None = None


@dataclass(frozen=True)
class PaperGraph:
    """One graph. vertices, edges : as told, those of sk-2005 rounded. diameter : exact. sweep, spanning,
    fringe : estimates of Table 1 (EM BFS DSLB, SPAN, DSLB UP BOUND). sweep_hours, spanning_hours : Table
    2. cells : Table 3, then what Table 4 has besides."""

    name: str
    vertices: int
    edges: int | None
    diameter: int
    sweep: int
    spanning: int
    fringe: int
    sweep_hours: float
    spanning_hours: float
    cells: tuple[PaperCell, ...]

    def share(self, cell: PaperCell) -> float:
        """Vertices a master."""
        return self.vertices / cell.masters

    def nearest(self, share: float) -> PaperCell | None:
        """The cell whose vertices a master are nearest to `share` by their ratio, if that is below 2."""
        best = min(self.cells, key=lambda cell: abs(math.log2(self.share(cell) / share)))
        return best if abs(math.log2(self.share(best) / share)) < 1 else None


def _cells(*figures: tuple[int, int, float, float, int, int | None]) -> tuple[PaperCell, ...]:
    return tuple(PaperCell(1 << power, estimate, ratio, hours, d, edges)
                 for power, estimate, ratio, hours, d, edges in figures)


PAPER: dict[str, PaperGraph] = {
    "cnr-2000": PaperGraph(
        "sk-2005", 50_000_000, 1_800_000_000, 40, 39, 60, 40, 5.27, 7.65, _cells(
            (8, 42, 1.05, 0.46, 12, None), (10, 51, 1.28, 0.51, 13, None), (12, 68, 1.70, 0.62, 17, None),
            (14, 79, 1.98, 0.68, 17, None), (16, 106, 2.65, 0.73, 17, None), (18, 113, 2.83, 0.76, 22, None),
            (20, 98, 2.45, 0.78, 18, None), (22, 119, 2.98, 0.77, 16, 58_008_681),
            (24, 90, 2.25, 2.78, 13, 298_868_555))),
    "levels-sqrt": PaperGraph(
        "sqrt(n)-level", 1 << 28, 1_127_310_556, 16_385, 16_385, 46_262, 16_385, 10.64, 7.74, _cells(
            (12, 16_836, 1.0275, 4.29, 156, None), (14, 16_519, 1.0082, 1.30, 35, None),
            (16, 16_413, 1.0017, 0.87, 15, None), (18, 16_409, 1.0015, 0.87, 13, None),
            (20, 16_408, 1.0014, 0.85, 12, None), (22, 16_407, 1.0013, 6.96, 10, 702_067_655),
            (24, 16_403, 1.0011, 8.38, 8, 858_741_691), (26, 16_401, 1.0010, 9.41, 7, 924_712_355))),
    "levels-linear": PaperGraph(
        "Theta(n)-level", 1 << 28, 903_876_452, 67_108_864, 67_108_864, 86_488_096, 67_108_864, 4.75, 4.81, _cells(
            (18, 67_118_479, 1.00014, 41.60, 3444, None), (20, 67_128_342, 1.00029, 12.33, 814, None),
            (22, 67_233_297, 1.00185, 3.68, 233, 4_305_371), (24, 67_717_702, 1.00907, 1.26, 60, 21_392_325),
            (26, 67_515_826, 1.00606, 2.47, 16, 155_525_706))),
    "worst-case": PaperGraph(
        "worst case", 1 << 28, (1 << 28) - 1, 2_440_341, 2_440_341, 3_982_472, 2_440_341, 1.66, 3.34, _cells(
            (16, 3_643_615, 1.49, 5.12, 449, None), (18, 6_729_783, 2.76, 1.87, 144, None),
            (20, 13_461_919, 5.52, 0.92, 50, None), (22, 11_265_297, 4.62, 0.73, 28, None),
            (24, 4_399_657, 1.80, 0.58, 22, None))),
}
