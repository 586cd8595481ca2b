"""Files of every writer of tests/formats/writers, changed at random and converted: each becomes a graph, or is refused
in a sentence, within the memory that was given."""

from __future__ import annotations

import random
from pathlib import Path
from shutil import rmtree

from emdiam.errors import InputError
from emdiam.units import peak_rss_bytes
from tests.formats.writers.drawn import drawn
from tests.formats.writers.reading import read_back
from tests.formats.writers.table import WRITERS
from tests.formats.writers.writer import expected
from tests.fuzz.kinds import Attack
from tests.fuzz.mutate import mutated
from tests.fuzz.outcome import FAULT, LOOSE, REFUSED, RIGHT, WRONG, Outcome

_UNCHANGED, _MARKED = 0.03, 0.3
# What a process may take that has loaded the libraries of all writers.
MEMORY = 3 << 29
# What parsers of these formats trip over: nested, endless and huge things.
_MARKS = (
    b"<!DOCTYPE a [<!ENTITY b \"bbbb\"><!ENTITY c \"&b;&b;&b;\">]>", b"&c;", b"]]>", b"<![CDATA[", b"<node>",
    b"</graph>",
    b"<graph edgedefault=\"directed\">", b"[" * 2000, b"{\"a\":" * 2000, b"]", b"{", b"graph [", b"node [ id 1 ]",
    b"edge [ source 1 target 99 ]", b"*Vertices 999999999999\n", b"*Arcs\n", b"*Edgeslist\n", b"*Matrix\n",
    b"-- a -- b", b"-> {x y z} ->", b"subgraph {", b"/*", b"*/", b"//", b"dl n=99999999999\n", b"data:\n", b"# q\n",
    b" pp ", b"~~~~~~~~", b"sep=;\n", b"1,5", b"\\u0000", b"&#0;", b"&#233;", b"1e999", b"-0", b"null", b"true",
)


def attacks(folder: Path) -> Attack:
    """One file an attack, in `folder`."""
    return lambda rng: attack(folder, rng)


def attack(folder: Path, rng: random.Random) -> Outcome:
    """Write a file, change it, and convert it."""
    place = folder / "files"
    rmtree(place, ignore_errors=True)
    place.mkdir()
    writer = WRITERS[rng.choice(list(WRITERS))]
    graph = drawn(rng, writer.traits)
    path = place / f"g{rng.choice(writer.suffixes)}"
    options = dict(writer.write(graph, path, rng) or {})
    weighted, directed = graph.weights is not None and rng.random() < 0.3, graph.directed and rng.random() < 0.3
    options |= ({"weights": writer.weight or True} if weighted else {}) | ({"directed": True} if directed else {})
    data = path.read_bytes()
    path.write_bytes(data if rng.random() < _UNCHANGED else changed(data, rng))
    unchanged = path.read_bytes() == data
    try:
        found = read_back(path, options, place, memory=str(MEMORY))
    except InputError as error:
        outcome = Outcome(REFUSED, str(error))
        if not str(error).isprintable():
            outcome = Outcome(FAULT, f"no sentence for users: {error!r}")
    else:
        right = not unchanged or found in expected(graph, writer.traits, weighted, directed)
        outcome = Outcome(LOOSE if not unchanged else RIGHT if right else WRONG, f"{path.name}: {data[:300]!r}")
    peak = peak_rss_bytes()
    return outcome if peak < MEMORY else Outcome(FAULT, f"{peak:,} bytes in memory: {path.read_bytes()[:600]!r}")


def changed(data: bytes, rng: random.Random) -> bytes:
    """The bytes of a file after some changes, marks of formats among them."""
    if rng.random() < _MARKED:
        for _ in range(rng.choice((1, 1, 2))):
            at = rng.randint(0, len(data))
            data = data[:at] + rng.choice(_MARKS) + data[at:]
        return data
    return mutated(data, rng)
