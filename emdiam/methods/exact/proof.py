"""What a method hands over so that its answer can be proved again by other code.

For a component C with upper bound L: every pivot p and every source q is traversed completely.
A vertex v is *settled* if d(v, p) + ecc(p) <= L for some pivot or source p; then ecc(v) <= L.
The proof of diameter(C) <= L is that every pair x != y of unsettled vertices has
d(x, p) + d(p, y) <= L for some pivot p. A component of at most L + 1 vertices needs none.
The proof of the lower bound is a pair of vertices at that distance.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class ComponentProof:
    """The proof for one component, in internal vertex numbers.

    vertex : any vertex of it. size : its number of vertices. lower, upper : the interval of its diameter that is
    proved. witness : a pair at distance exactly `lower`; None if lower is 0. pivots : vertices whose distances prove
    pairs, and settle. sources : vertices whose distances only settle. The order of pivots and sources means nothing.
    """

    vertex: int
    size: int
    lower: int
    upper: int
    witness: tuple[int, int] | None = None
    pivots: list[int] = field(default_factory=list)
    sources: list[int] = field(default_factory=list)


@dataclass
class Proof:
    """One entry for every component that was solved, at most one each. All others have at most as
    many vertices as the largest upper bound, and one more."""

    components: list[ComponentProof] = field(default_factory=list)
