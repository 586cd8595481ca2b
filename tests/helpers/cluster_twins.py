"""Plain twins of cluster growing and condensing."""

from __future__ import annotations

from tests.helpers import naive


def components(graph: naive.Graph) -> list[list[int]]:
    """Components with an edge, each ascending, by their smallest vertex."""
    return [part for part in naive.components(graph) if len(part) > 1]


def masters_everywhere(graph: naive.Graph, masters: list[int]) -> list[int]:
    """`masters`, and the smallest vertex of every component without one."""
    return masters + [part[0] for part in components(graph) if not set(part) & set(masters)]


def grow_twin(graph: naive.Graph, masters: list[int]) -> list[tuple[int, int]]:
    """(owner, distance) of every vertex in rounds; (-1, -1) of isolated ones."""
    label = {master: (number, 0) for number, master in enumerate(masters)}
    front, distance = list(masters), 0
    while front:
        distance += 1
        offers: dict[int, int] = {}
        for v in front:
            for w in graph[v]:
                if w not in label:
                    offers[w] = min(offers.get(w, len(masters)), label[v][0])
        for w, owner in offers.items():
            label[w] = (owner, distance)
        front = list(offers)
    return [label.get(v, (-1, -1)) for v in range(len(graph))]


def condensed_twin(graph: naive.Graph, labels: list[tuple[int, int]]) -> set[tuple[int, int, int]]:
    """All arcs between clusters with their weights, parallel ones of different weight too."""
    return {(labels[v][0], labels[w][0], labels[v][1] + 1 + labels[w][1])
            for v in range(len(graph)) for w in graph[v] if labels[v][0] != labels[w][0]}


def walk_bounds(graph: naive.Graph, masters: list[int]) -> tuple[list[int], list[int], list[int]]:
    """(a source per component, component of each master, length of a walk from source to master that
    may be longer than the distance)."""
    parts = components(graph)
    sources = [part[len(part) // 2] for part in parts]
    part_of = {v: i for i, part in enumerate(parts) for v in part}
    base = []
    for number, master in enumerate(masters):
        distance = naive.distances(graph, sources[part_of[master]])[master]
        base.append(distance + number % 3 * 2)
    return sources, [part_of[m] for m in masters], base
