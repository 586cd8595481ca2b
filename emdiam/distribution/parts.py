"""How many pairs of vertices are connected at all: from the sizes of the components, exactly."""

from __future__ import annotations

from dataclasses import dataclass

from ..engine.interface import Engine, max_degree_vertex


@dataclass(frozen=True)
class Connected:
    """n_components : isolated vertices included. pairs : unordered pairs of vertices within components."""

    n_components: int
    pairs: int

    def unreachable(self, n_vertices: int) -> int:
        """Pairs of vertices of different components."""
        return n_vertices * (n_vertices - 1) // 2 - self.pairs


def connected_pairs(engine: Engine) -> Connected:
    """One BFS, and the components that it does not reach."""
    facts = engine.facts
    if not facts.n_arcs:
        return Connected(facts.n_vertices, 0)
    engine.reporter.tick("components")
    hub = max_degree_vertex(engine)
    run = engine.bfs(hub, distances=False)
    others = engine.components(hub)
    pairs, count = run.n_reached * (run.n_reached - 1) // 2, 1
    if others is not None:
        pairs, count = pairs + others.n_pairs(), count + others.n_others
        others.release()
    return Connected(facts.n_isolated + count, pairs)
