"""Random graphs with names, gaps, vertices alone, loops, parallel edges, weights and directions, as a writer's files
can hold them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

Label = int | str
FROM_0, FROM_1 = ("{place}",), ("{number}",)


@dataclass(frozen=True)
class Traits:
    """What files of a writer hold. labels : kinds of labels that it takes, of LABELS. called : what a vertex is
    called in them, by its label, its place, or its number, which is its place plus 1; any of several will do. alone :
    whether vertices without an edge are there. loops, parallel, directed : whether there are such edges. weights :
    kinds of weights, of WEIGHTS. both : whether a graph without directions has every edge both ways, as arcs. least :
    vertices; small matrices and lists are tables of edges as well.
    """

    labels: tuple[str, ...] = ("counted",)
    called: tuple[str, ...] = ("{label}",)
    alone: bool = True
    loops: bool = True
    parallel: bool = False
    directed: bool = True
    weights: tuple[str, ...] = ()
    both: bool = False
    least: int = 2


@dataclass(frozen=True)
class Drawn:
    """A graph. labels : of its vertices. pairs : ends of its edges, as places among these. weights : of the edges, None
    where they have none."""

    labels: Sequence[Label]
    pairs: Sequence[tuple[int, int]]
    weights: Sequence[float] | None
    directed: bool

    @property
    def n(self) -> int:
        """Vertices."""
        return len(self.labels)

    @property
    def edges(self) -> list[tuple[Label, Label]]:
        """The edges by the labels of their ends."""
        return [(self.labels[a], self.labels[b]) for a, b in self.pairs]

    @property
    def values(self) -> list[float]:
        """The weights, ones where there are none."""
        return [1] * len(self.pairs) if self.weights is None else list(self.weights)


def drawn(random: Random, traits: Traits) -> Drawn:
    """A graph that files of these traits can hold, but for vertices alone."""
    n = random.randint(traits.least, 24)
    directed = traits.directed and random.random() < 0.5
    kind = random.choice(("", *traits.weights))
    pairs = _pairs(random, n, directed, traits)
    labels = LABELS[random.choice(traits.labels)](random, n)
    weights = [WEIGHTS[kind](random) for _ in pairs] if kind else None
    return Drawn(labels, pairs, weights, directed)


def _pairs(random: Random, n: int, directed: bool, traits: Traits) -> list[tuple[int, int]]:
    """Edges in any order, one of them no loop at least; a long path or a heap."""
    if random.random() < 0.4:
        found = [(v, v + 1) if random.random() < 0.7 else (v + 1, v) for v in range(n - 1) if random.random() < 0.9]
    else:
        found = [(random.randrange(n), random.randrange(n)) for _ in range(random.randint(1, 2 * n))]
    a = random.randrange(n - 1)
    found += [(a, random.randrange(a + 1, n)), *([(0, 1), (1, 2), (2, 3)] if traits.least > 2 else [])]
    found += [(v, v) for v in range(n) if random.random() < 0.1] + random.choices(found, k=random.choice((0, 0, 2)))
    random.shuffle(found)
    if not traits.loops:
        found = [(a, b) for a, b in found if a != b]
    if not traits.parallel:
        met = {(pair if directed else (min(pair), max(pair))): pair for pair in found}
        found = list(met.values())
    return found


def _gaps(random: Random, n: int) -> list[Label]:
    return list(random.sample(range(random.choice((2 * n, 5000, 1 << 40))), n))


def _names(random: Random, n: int) -> list[Label]:
    """Words, some of which other programs take for something else."""
    words = [random.choice(("v", "gene", "Ann_", "x-", "ENSP", "a.b", "http://x.org/", "Q")) + str(v) for v in range(n)]
    for word in ("NA", "nan", "None", "true", "node", "edge", "é"):
        if random.random() < 0.1:
            words[random.randrange(n)] = word
    return list(dict.fromkeys([*words, *(f"w{v}" for v in range(n))]))[:n]


def _spaced(random: Random, n: int) -> list[Label]:
    forms = ("New York {}", "Smith, J. {}", "São {}", "a;b {}", "{} and more")
    return [random.choice(forms).format(v) for v in range(n)]


LABELS: Mapping[str, Callable[[Random, int], list[Label]]] = {
    "counted": lambda _, n: list(range(n)),
    "gaps": _gaps,
    "names": _names,
    "plain": lambda random, n: [random.choice(("v", "gene", "Ann_", "ENSP", "Q")) + str(v) for v in range(n)],
    "spaced": _spaced,
    "quoted": lambda random, n: [f'{random.choice(("a", "5"))}"{v}"' for v in range(n)],
    "zeros": lambda random, n: [f"{v:05}" for v in random.sample(range(10_000), n)],
}
WEIGHTS: Mapping[str, Callable[[Random], float]] = {
    "whole": lambda random: random.randint(1, 40),
    "decimal": lambda random: random.randint(1, 99_999) / random.choice((10, 100, 1000)),
}
NUMBERS = ("counted", "gaps")
WORDS = ("counted", "gaps", "names", "zeros")
ANY = (*WORDS, "spaced")
BOTH_WEIGHTS = ("whole", "decimal")
