"""Figures of a distribution of distances, and their standard errors by leaving out one group of observations at a time.

The effective diameter at q is the distance within which the share q of the connected pairs lies, interpolated between
two distances as if the pairs in between were spread evenly: with g(h) pairs within h and g(h - 1) < q g(D) <= g(h) it
is h - 1 + (q g(D) - g(h - 1)) / (g(h) - g(h - 1)). Pairs are of two different vertices, so g(0) = 0.
Sources: Leskovec, Kleinberg, Faloutsos 2007 (Graph evolution, section 3.3), as SNAP interpolates; the jackknife by
groups: Shao, Tu 1995 (The Jackknife and Bootstrap, section 2.3).
"""

from __future__ import annotations

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
    if pairs[1:].sum() <= 0:
        return None
    mean, effective = _figures_of_rows(pairs[None, :], quantile)
    return Figures(float(mean[0]), float(effective[0]))


def _figures_of_rows(pairs: np.ndarray, quantile: float) -> tuple[np.ndarray, np.ndarray]:
    """(means, effective diameters), float64[k] each, of distributions, [k, levels + 1] each; NaN where there is no
    pair."""
    there = pairs[:, 1:].astype(np.float64)
    within = np.cumsum(there, axis=1)
    total = within[:, -1]
    with np.errstate(invalid="ignore", divide="ignore"):
        means = there @ np.arange(1, pairs.shape[1], dtype=np.float64) / total
    wanted = quantile * total
    at = np.minimum((within < wanted[:, None]).sum(axis=1), there.shape[1] - 1)
    rows = np.arange(len(pairs))
    here = there[rows, at]
    with np.errstate(invalid="ignore", divide="ignore"):
        effective = at + (wanted - (within[rows, at] - here)) / here
    return means, effective


def jackknife(left_out: np.ndarray, quantile: float, unseen: float = 1.0) -> Figures | None:
    """Standard errors. left_out : [groups, levels + 1], the distribution without each group. unseen : share of the
    population that was not drawn. None with fewer than two groups that leave a pair."""
    if left_out.shape[1] < 2:
        return None
    means, effective = _figures_of_rows(left_out, quantile)
    means, effective = means[np.isfinite(means)], effective[np.isfinite(effective)]
    count = len(means)
    if count < 2 or len(effective) < 2:
        return None
    share = unseen * (count - 1) / count
    return Figures(*(float(np.sqrt(share * np.square(values - values.mean()).sum())) for values in (means, effective)))


def without_each(counts: np.ndarray) -> np.ndarray:
    """The sum of all rows but one, for each that has a count, int64[k, levels + 1]. counts : int64[groups, levels +
    1]."""
    some = counts[counts.any(axis=1)]
    left: np.ndarray = some.sum(axis=0, keepdims=True) - some
    return left
