"""Sources for BFS measurements: vertices of the giant component, chosen by seed."""

from __future__ import annotations

import numpy as np

from emdiam.engine.interface import Engine, max_degree_vertex

_SEED = 20_251
_TRIES = 8


def giant_sources(engine: Engine, count: int) -> tuple[list[int], int]:
    """`count` random vertices of the largest component found from a few starts, and its size.

    The starts are a vertex of the largest degree and eight random ones.
    """
    random = np.random.default_rng(_SEED)
    starts = [max_degree_vertex(engine), *random.integers(engine.facts.n_vertices, size=_TRIES).tolist()]
    best = max((engine.bfs(start, distances=False) for start in starts), key=lambda run: run.n_reached)
    distances = engine.bfs(best.source).distances
    assert distances is not None
    sources: list[int] = []
    while len(sources) < count:
        candidates = random.integers(engine.facts.n_vertices, size=64)
        inside = distances.gather(candidates) >= 0
        sources += candidates[inside].tolist()
    return sources[:count], best.n_reached
