"""Part verify: results of every variant with every mapping, and of every driver, against plain numpy.

Each on several classes of graphs, with ids of 32 and of 64 bits: all subjects on one graph, then on the next. A
subject that ends its process is not tried again. A row has how many results were checked and how many were wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

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
    for width in ids:
        for name in names:
            lazy = Lazy(partial(Subject, setting, name, width))
            yield from _subjects(setting, lazy, {"class": name, "ids": width})


def _subjects(setting: Setting, lazy: Lazy[Subject], key: dict[str, str]) -> Iterator[Row]:
    """Every variant by itself and every driver with its first mapping, then each with the next, and so on."""
    works: list[tuple[str, str, Callable[[], dict[str, int]]]] = [
        (variant, mapping, partial(_variant, lazy, variant, mapping)) for variant, mapping in catalogue.cells()]
    works += [(driver, mapping, partial(_driver, lazy, check, mapping))
              for driver, (mappings, check) in DRIVERS.items() for mapping in mappings]
    met = Counter[str]()
    turns = []
    for subject, _, _ in works:
        turns.append(met[subject])
        met[subject] += 1
    for _, (subject, mapping, work) in sorted(zip(turns, works, strict=True), key=lambda one: one[0]):
        yield from setting.cell({**key, "subject": subject, "mapping": mapping}, work, (subject, mapping))


def _variant(lazy: Lazy[Subject], name: str, mapping: str) -> dict[str, int]:
    subject = lazy.get()
    search = catalogue.search_on(subject.setting.device, subject.graph, name, mapping)
    wrong = sum(not catalogue.agrees(subject.setting, search(source), subject.expected[source])
                for source in subject.sources)
    return {"checked": len(subject.sources), "wrong": wrong}


def _driver(lazy: Lazy[Subject], check: Check, mapping: str) -> dict[str, int]:
    found = [bool(one) for one in check(lazy.get(), mapping)]
    return {"checked": len(found), "wrong": found.count(False)}
