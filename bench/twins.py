"""Small graphs like those that people have, made of a seed: pairs of vertices, as (src, dst).

Kinds: `social` (hubs, and many leaves), `co-author` (papers are cliques of a group), `road` (a street grid with gaps),
`commits` (branches that leave a chain and merge again), `knowledge` (statements about few classes, and chains that
hang on), `mesh` (triangles of points that are denser in the middle). Work and bytes: linear, in Python for three.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Pairs = tuple[np.ndarray, np.ndarray]


def social(n: int, rng: np.random.Generator) -> Pairs:
    """Most vertices come with one to eight edges, mostly to ends of earlier ones, others with one."""
    pairs, ends = [], [0]
    wanted = np.where(rng.random(n) < 0.6, rng.integers(1, 9, n), 1)
    for v in range(1, n):
        for _ in range(min(v, int(wanted[v]))):
            w = ends[int(rng.integers(len(ends)))] if rng.random() < 0.85 else int(rng.integers(v))
            pairs.append((v, w))
            ends += v, w
    return _columns(pairs)


def coauthor(n: int, rng: np.random.Generator) -> Pairs:
    """Papers of two to six authors, new ones and such as have written of late about where the paper belongs."""
    pairs, ends, new = [], [0, 1], 2
    while new < n:
        size, middle, team = int(rng.choice([2, 2, 3, 3, 4, 5, 6])), int(rng.integers(len(ends))), set[int]()
        while len(team) < size:
            kind = rng.random()
            if kind < 0.45 and new < n:
                team.add(new)
                new += 1
            else:
                near = middle + int(rng.integers(-40, 40)) if kind < 0.9 else int(rng.integers(len(ends)))
                team.add(ends[min(max(near, 0), len(ends) - 1)])
        ends += sorted(team)
        pairs += [(v, w) for v in team for w in team if v < w]
    return _columns(pairs)


def commits(n: int, rng: np.random.Generator) -> Pairs:
    """At most thirty branches: a commit follows one of them, begins one, or merges it into the first."""
    pairs, tips = [], [0]
    for v in range(1, n):
        i = int(rng.integers(len(tips))) if rng.random() < 0.35 else 0
        pairs.append((v, tips[i]))
        kind = rng.random()
        if kind < 0.15 and len(tips) < 30:
            tips.append(v)
        elif kind < 0.3 and len(tips) > 1:
            pairs.append((v, tips.pop(int(rng.integers(1, len(tips))))))
            tips[0] = v
        else:
            tips[i] = v
    return _columns(pairs)


def knowledge(n: int, rng: np.random.Generator) -> Pairs:
    """Three statements a vertex about classes, of which few have most; an eighth more vertices hang on in chains."""
    tails, classes = rng.integers(0, n, 3 * n), np.minimum(rng.zipf(1.6, 3 * n), n) - 1
    hanging = np.arange(n // 8) + n
    follow = np.where(rng.random(len(hanging)) < 0.5, np.maximum(hanging - 1, n), rng.integers(0, n, len(hanging)))
    return np.concatenate((tails, hanging)), np.concatenate((classes, follow))


def road(n: int, rng: np.random.Generator) -> Pairs:
    """A square grid of about 1.3 n crossings that keeps 68 of 100 streets."""
    side = int(np.sqrt(1.3 * n))
    grid = np.arange(side * side).reshape(side, side)
    src = np.concatenate((grid[:, 1:].ravel(), grid[1:].ravel()))
    dst = np.concatenate((grid[:, :-1].ravel(), grid[:-1].ravel()))
    keep = rng.random(len(src)) < 0.68
    return src[keep], dst[keep]


def mesh(n: int, rng: np.random.Generator) -> Pairs:
    """The Delaunay triangulation of normally distributed points."""
    from scipy.spatial import Delaunay

    corners = Delaunay(rng.normal(size=(n, 2))).simplices.T.astype(np.int64)
    return np.concatenate(corners), np.concatenate(np.roll(corners, 1, axis=0))


def _columns(pairs: list[tuple[int, int]]) -> Pairs:
    src, dst = np.array(pairs, np.int64).T
    return src, dst


KINDS: dict[str, Callable[[int, np.random.Generator], Pairs]] = {
    "social": social, "co-author": coauthor, "road": road, "commits": commits, "knowledge": knowledge, "mesh": mesh}
SIZES = (4_000, 10_000, 22_000, 46_000, 100_000)


def pairs_of(kind: str, n: int) -> Pairs:
    """The graph of this kind with about n vertices, always the same."""
    return KINDS[kind](n, np.random.default_rng(n))
