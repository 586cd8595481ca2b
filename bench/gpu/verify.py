"""Part verify: results of every variant with every mapping, and of every driver, against plain numpy.

Each on several classes of graphs, with ids of 32 and of 64 bits: every subject with its first mapping on all graphs,
then with the next, so that a run that is short of time has seen all of them. A subject that ends its process is not
tried again. A row has how many results were checked and how many were wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product

import numpy as np

from . import catalogue, inputs, twins
from .drivers import DRIVERS, Check
from .lazy import Lazy
from .setting import Row, Setting

IDS = ("uint32", "uint64")
N_SOURCES = 3


class Subject:
    """A graph of one class on the device and on the host, sources, and the distances from them."""

    def __init__(self, setting: Setting, name: str, ids: str) -> None:
        self.setting = setting
        self.input = inputs.graph_of(setting, name, inputs.VERIFIED[name](setting), np.dtype(ids))
        self.graph = self.input.graph
        self.rows = inputs.host_rows(setting, self.graph)
        others = self.input.sources(np.ones(self.graph.n_vertices, bool), N_SOURCES - 1)
        self.sources = [int(np.argmax(self.input.degrees)), *others]
        self.expected = {source: twins.distances(*self.rows, source) for source in self.sources}


def run(setting: Setting, names: Sequence[str] = tuple(inputs.VERIFIED), ids: Sequence[str] = IDS) -> Iterator[Row]:
    """Rows by class, ids, subject (variant or driver) and mapping."""
    everything = _works()
    for width in ids:
        graphs = {name: Lazy(partial(Subject, setting, name, width)) for name in names}
        for turn in range(max(map(len, everything.values()))):
            for (name, lazy), (subject, works) in product(graphs.items(), everything.items()):
                if turn < len(works):
                    mapping, work = works[turn]
                    yield from setting.cell({"class": name, "ids": width, "subject": subject, "mapping": mapping},
                                            partial(work, lazy), (subject, mapping))


def _works() -> dict[str, list[tuple[str, Callable[[Lazy[Subject]], dict[str, int]]]]]:
    """What is done with a graph: of every variant and driver, its mappings and the work, in their order."""
    found: dict[str, list[tuple[str, Callable[[Lazy[Subject]], dict[str, int]]]]] = {}
    for variant, mapping in catalogue.cells():
        found.setdefault(variant, []).append((mapping, partial(_variant, name=variant, mapping=mapping)))
    for driver, (mappings, check) in DRIVERS.items():
        found[driver] = [(mapping, partial(_driver, check=check, mapping=mapping)) for mapping in mappings]
    return found


def _variant(lazy: Lazy[Subject], name: str, mapping: str) -> dict[str, int]:
    subject = lazy.get()
    search = catalogue.search_on(subject.setting.device, subject.graph, name, mapping)
    wrong = sum(not catalogue.agrees(subject.setting, search(source), subject.expected[source])
                for source in subject.sources)
    return {"checked": len(subject.sources), "wrong": wrong}


def _driver(lazy: Lazy[Subject], check: Check, mapping: str) -> dict[str, int]:
    found = [bool(one) for one in check(lazy.get(), mapping)]
    return {"checked": len(found), "wrong": found.count(False)}
