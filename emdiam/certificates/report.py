"""What a verification tells: the report, and the refusal inside of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from ..shown import Shown, infinite
from ..units import MemoryFigures


class Refused(Exception):
    """The certificate proves nothing, or not what it claims; args[0] is the reason, a clause."""


@dataclass(repr=False)
class VerifyReport(Shown, MemoryFigures):
    """The outcome.

    verified : every claim was proved again. reason : why not, else None. lower, upper : claimed interval of the largest
    distance, over all components; proved if verified. diameter : the diameter, if it is verified, exact and the graph
    connected. traversals : sources whose distances were proposed and checked. scans : passes over all edges made here,
    beside those of the traversals. unsettled : vertices that had to be proved by pairs. pairs : products of sets of
    them, and single pairs, that were looked at. seconds : wall seconds {total, graph, labels, pairs}.
    """

    shown: ClassVar[tuple[str, ...]] = (
        "verified", "reason", "diameter", "lower", "upper", "n_vertices", "n_edges", "n_components", "traversals",
        "seconds")

    verified: bool
    lower: int
    upper: int
    diameter: int | None
    diameter_largest_component: int | None
    n_components: int
    connected: bool
    n_vertices: int
    n_edges: int
    reason: str | None = None
    traversals: int = 0
    scans: int = 0
    unsettled: int = 0
    pairs: int = 0
    seconds: dict[str, float] = field(default_factory=dict)
    memory_limit_bytes: int | None = None
    peak_rss_bytes: int | None = None
    version: str = ""

    def _fact(self, name: str) -> Any:
        """See Shown; an infinite diameter is no missing one."""
        if name == "diameter" and self.verified and not self.connected:
            return infinite(self.n_components)
        return super()._fact(name)

    def to_dict(self) -> dict[str, Any]:
        """Plain dict with exactly these names, ready for JSON."""
        return {**asdict(self), "memory_limit_exceeded": self.memory_limit_exceeded}
