"""The largest components, each with an interval of its diameter: for those who ask for more than the largest one.

Bytes: those of the list, which has as many entries as were asked for at most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...store.store import Store
from ...traverse.components import Component

# Components with an edge that may be listed.
MOST_LISTED = 1 << 16


class ComponentList:
    """Components, of which any may be solved by now. components : the largest ones, in any order. limit : how many are
    listed at most. Isolated vertices are in no list."""

    def __init__(self, store: Store, components: Sequence[Component] = (), limit: int = 0) -> None:
        listed = sorted(components, key=lambda component: (-component.size, component.root))[:limit]
        names = store.user_ids(np.array([component.hub for component in listed], np.int64)) if listed else []
        self._rows: dict[int, dict[str, Any]] = {
            component.root: {"vertex": name, "vertices": component.size, "lower": 1, "upper": component.size - 1}
            for component, name in zip(listed, names, strict=True)}

    def __contains__(self, component: Component) -> bool:
        return component.root in self._rows

    def narrow(self, component: Component, lower: int, upper: int) -> None:
        """What is proved of the diameter of one that may be listed."""
        if component in self:
            self._rows[component.root].update(lower=lower, upper=upper)

    def rows(self) -> list[dict[str, Any]]:
        """For JSON, the largest first: vertex (the user's id of one of largest degree), vertices, lower, upper."""
        return list(self._rows.values())
