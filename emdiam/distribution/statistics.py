"""Figures of a distribution of distances, and their standard errors by leaving out one group of observations at a time.

The effective diameter at q is the distance within which the share q of the connected pairs lies, interpolated between
two distances as if the pairs in between were spread evenly: with g(h) pairs within h and g(h - 1) < q g(D) <= g(h) it
is h - 1 + (q g(D) - g(h - 1)) / (g(h) - g(h - 1)). Pairs are of two different vertices, so g(0) = 0.
Sources: Leskovec, Kleinberg, Faloutsos 2007 (Graph evolution, section 3.3), as SNAP interpolates; the jackknife by
groups: Shao, Tu 1995 (The Jackknife and Bootstrap, section 2.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Figures:
    """Mean and effective diameter of a distribution, or the standard errors of both."""

    mean: float
    effective_diameter: float

    def to_dict(self) -> dict[str, float]:
        """Plain dict for JSON."""
        return {"mean": self.mean, "effective_diameter": self.effective_diameter}


def figures_of(pairs: np.ndarray, quantile: float) -> Figures | None:
    """Mean and effective diameter; None without a pair. pairs : float64 or int64[levels + 1], pairs by distance; those
    at distance 0 do not count."""
    there = pairs[1:].astype(np.float64)
    within = np.cumsum(there)
    if not len(there) or within[-1] <= 0:
        return None
    mean = there @ np.arange(1, len(pairs), dtype=np.float64) / within[-1]
    wanted = quantile * within[-1]
    at = min(int(np.searchsorted(within, wanted)), len(there) - 1)
    effective = at + (wanted - (within[at] - there[at])) / there[at]
    return Figures(float(mean), float(effective))


def jackknife(left_out: Iterable[np.ndarray], quantile: float, unseen: float = 1.0) -> Figures | None:
    """Standard errors. left_out : the distribution without each group, [levels + 1] each. unseen : share of the
    population that was not drawn. None with fewer than two groups that leave a pair."""
    found = [figures for pairs in left_out if (figures := figures_of(pairs, quantile)) is not None]
    if len(found) < 2:
        return None
    values = np.array([(figures.mean, figures.effective_diameter) for figures in found])
    share = unseen * (len(found) - 1) / len(found)
    return Figures(*np.sqrt(share * np.square(values - values.mean(axis=0)).sum(axis=0)).tolist())


def without_each(counts: np.ndarray) -> Iterator[np.ndarray]:
    """The sum of all rows but one, int64[levels + 1], for each that has a count. counts : int64[groups, levels + 1]."""
    total = counts.sum(axis=0)
    for row in counts:
        if row.any():
            yield total - row
