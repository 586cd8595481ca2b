"""Figures of a distribution of distances, and their standard errors by leaving out one group of observations at a time.

The effective diameter at q is the distance within which the share q of the connected pairs lies, interpolated between
two distances as if the pairs in between were spread evenly: with g(h) pairs within h and g(h - 1) < q g(D) <= g(h) it
is h - 1 + (q g(D) - g(h - 1)) / (g(h) - g(h - 1)). Pairs are of two different vertices, so g(0) = 0. Where ranges of
distances are counted, it is interpolated over the range that it lies in, so that it is off by less than its width.
Sources: Leskovec, Kleinberg, Faloutsos 2007 (Graph evolution, section 3.3), as SNAP interpolates; the jackknife by
groups: Shao, Tu 1995 (The Jackknife and Bootstrap, section 2.3).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..traverse.distance_table import PairCounts


@dataclass(frozen=True)
class Figures:
    """Mean and effective diameter of a distribution, or the standard errors of both."""

    mean: float
    effective_diameter: float

    def to_dict(self) -> dict[str, float]:
        """Plain dict for JSON."""
        return {"mean": self.mean, "effective_diameter": self.effective_diameter}


def figures_of(pairs: PairCounts, quantile: float) -> Figures | None:
    """Mean and effective diameter; None without a pair."""
    there, width = pairs.counts.astype(np.float64), pairs.width
    within = np.cumsum(there)
    if within[-1] <= 0:
        return None
    mean = (there @ np.arange(0, len(there) * width, width, dtype=np.float64) + pairs.above) / within[-1]
    wanted = quantile * within[-1]
    at = min(int(np.searchsorted(within, wanted)), len(there) - 1)
    first, last = max(1, at * width), min((at + 1) * width - 1, pairs.largest)
    effective = first - 1 + (last - first + 1) * (wanted - (within[at] - there[at])) / there[at]
    return Figures(float(mean), float(effective))


def jackknife(left_out: Iterable[PairCounts], quantile: float, unseen: float = 1.0) -> Figures | None:
    """Standard errors. left_out : the distribution without each group. unseen : share of the population that was not
    drawn. None with fewer than two groups that leave a pair."""
    found = [figures for pairs in left_out if (figures := figures_of(pairs, quantile)) is not None]
    if len(found) < 2:
        return None
    values = np.array([(figures.mean, figures.effective_diameter) for figures in found])
    share = unseen * (len(found) - 1) / len(found)
    return Figures(*np.sqrt(share * np.square(values - values.mean(axis=0)).sum(axis=0)).tolist())
