"""The graphs that are measured: real files, and generated ones with their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .twins import KINDS, SIZES


@dataclass(frozen=True)
class Graph:
    """One graph.

    file : name in the folder of real graphs, or "" for a generated one. graph_class, vertices,
    parameters, seed : what `generate` takes. chunk_ids : ids a block, 0 for the default.
    shuffled : the generated graph with its vertices in random order (by seed). diameters : known (of
    the largest component, over all), checked in every run; () if unknown. published : traversals of
    the F-Diam authors' program (0: not known). twin : the kind of a generated graph of twins.py, of about `vertices`
    vertices, in place of graph_class. design : traversals that pivots was designed to need
    (0: no figure). large : takes minutes to make; only measured when named, or with --large.
    """

    name: str
    file: str = ""
    graph_class: str = ""
    vertices: int | None = None
    parameters: Mapping[str, float | int | str] = field(default_factory=dict)
    seed: int = 1
    chunk_ids: int = 0
    shuffled: bool = False
    diameters: tuple[int, ...] = ()
    published: int = 0
    design: int = 0
    large: bool = False
    twin: str = ""


def _real(name: str, file: str, diameters: tuple[int, int], published: int = 0, design: int = 0) -> Graph:
    return Graph(name, file=file, diameters=diameters, published=published, design=design)


_MILD = {"a": 0.45, "b": 0.22, "c": 0.22}

REAL = (
    _real("git-objects-git", "git-objects-git.parquet", (173, 173), 6, 4),
    _real("cnr-2000", "cnr-2000.parquet", (34, 34), 366, 6),
    _real("travelmapping", "travelmapping-highways.parquet", (2872, 2996), 699),
    _real("USA-road-d.NY", "USA-road-d.NY.gr.gz", (720, 720), 17, 8),
    _real("luxembourg_osm", "luxembourg_osm.mtx.gz", (1337, 1337)),
    _real("wave", "wave.graph.bz2", (56, 56), 103, 9),
    _real("wing", "wing.graph", (92, 92)),
    _real("delaunay_n16", "delaunay_n16.mtx.gz", (119, 119)),
    _real("internet", "internet.egr", (30, 30), 3),
    _real("p2p-Gnutella31", "p2p-Gnutella31.e", (11, 11), 1257, 12),
    _real("cit-HepPh", "cit-HepPh.csv.gz", (14, 14)),
    _real("email-Enron", "email-Enron.csv.gz", (13, 13)),
    _real("git_edges", "git_edges.csv", (11, 11)),
    _real("facebook_combined", "facebook_combined.txt", (8, 8)),
    _real("wiki-Vote", "wiki-Vote.txt", (7, 7)),
    _real("MIT8", "MIT8.edgelist", (8, 8)),
    _real("PGPgiantcompo", "PGPgiantcompo.graph", (24, 24)),
    _real("USPowerGrid", "USPowerGrid.txt", (46, 46)),
)

GENERATED = (
    Graph("rmat-21-ef8", "", "rmat", 2**21, {"edge_factor": 8}),
    Graph("rmat-21-ef8-mild", "", "rmat", 2**21, {"edge_factor": 8, **_MILD}),
    Graph("rmat-24-ef16", "", "rmat", 2**24, {"edge_factor": 16}, large=True),
    Graph("rmat-20-ef16", "", "rmat", 2**20, {"edge_factor": 16}),
    Graph("kronecker-20-ef16", "", "kronecker", 2**20, {"edge_factor": 16}, design=2),
    Graph("kronecker-22-ef16", "", "kronecker", 2**22, {"edge_factor": 16}),
    Graph("levels-2^24", "", "levels", 2**24, large=True),
    Graph("path-2^22", "", "path", 2**22, diameters=(2**22 - 1, 2**22 - 1)),
    Graph("delaunay-2^18", "", "delaunay", 2**18, design=24),
    Graph("delaunay-2^20", "", "delaunay", 2**20, design=33),
    Graph("delaunay-2^21", "", "delaunay", 2**21),
    Graph("delaunay-2^20-shuffled", "", "delaunay", 2**20, shuffled=True),
    Graph("geometric-2^18", "", "geometric", 2**18, design=8),
    Graph("percolated-1000^2", "", "percolated", None, {"sides": "1000x1000", "p": 0.65}, design=8),
    Graph("grid-80^3", "", "grid", None, {"sides": "80x80x80"}, diameters=(237, 237), design=8),
    Graph("torus-512^2", "", "torus", None, {"sides": "512x512"}, diameters=(512, 512), design=9),
    Graph("hypercube-18", "", "hypercube", 2**18, diameters=(18, 18), design=9),
    Graph("watts-strogatz-2^19", "", "watts-strogatz", 2**19, {"k": 6, "p": 0.01}, design=59),
    Graph("watts-strogatz-2^17", "", "watts-strogatz", 2**17, {"k": 6, "p": 0.01}),
    Graph("rmat-18-ef8", "", "rmat", 2**18, {"edge_factor": 8}),
    Graph("grid-800^2", "", "grid", None, {"sides": "800x800"}, diameters=(1598, 1598)),
    Graph("watts-strogatz-2^18-fine", "", "watts-strogatz", 2**18, {"k": 6, "p": 0.01}, chunk_ids=2**14),
    Graph("grid-800^2-fine", "", "grid", None, {"sides": "800x800"}, chunk_ids=2**15, diameters=(1598, 1598)),
    Graph("barabasi-albert-2^19", "", "barabasi-albert", 2**19, {"m": 3}, design=65),
    Graph("erdos-renyi-2^19-4", "", "erdos-renyi", 2**19, {"average_degree": 4}, design=48),
    Graph("erdos-renyi-2^19-16", "", "erdos-renyi", 2**19, {"average_degree": 16}),
    Graph("regular-2^14", "", "regular", 2**14, {"degree": 3}),
    Graph("regular-2^17", "", "regular", 2**17, {"degree": 3}),
    Graph("regular-2^19", "", "regular", 2**19, {"degree": 3}),
    Graph("regular-10^6-32", "", "regular", 10**6, {"degree": 32}, large=True),
    Graph("erdos-renyi-2^18-16", "", "erdos-renyi", 2**18, {"average_degree": 16}),
)

TWINS = tuple(Graph(f"{kind}-{n}", vertices=n, twin=kind) for kind in KINDS for n in SIZES)

QUICK = (
    Graph("quick-rmat-12", "", "rmat", 2**12, {"edge_factor": 8}, chunk_ids=2**10),
    Graph("quick-path-2^13", "", "path", 2**13, diameters=(2**13 - 1, 2**13 - 1)),
    Graph("quick-grid-40x50", "", "grid", None, {"sides": "40x50"}, chunk_ids=2**8, diameters=(88, 88)),
)

# What each section measures, by name; QUICK in its place with --quick.
SECTIONS: Mapping[str, tuple[str, ...]] = {
    "bfs": ("rmat-21-ef8", "rmat-21-ef8-mild", "kronecker-20-ef16", "path-2^22", "git-objects-git",
            "cnr-2000", "travelmapping", "USA-road-d.NY", "wave", "p2p-Gnutella31", "rmat-20-ef16", "grid-800^2",
            "social-100000", "co-author-46000", "knowledge-100000", "commits-100000", "mesh-100000"),
    "exact": (*(g.name for g in REAL), "delaunay-2^18", "delaunay-2^20", "grid-80^3", "torus-512^2",
              "hypercube-18", "kronecker-20-ef16", "rmat-21-ef8", "watts-strogatz-2^19",
              "percolated-1000^2", "geometric-2^18", "barabasi-albert-2^19", "regular-2^14"),
    "small": tuple(g.name for g in TWINS),
    "ecc": ("cnr-2000", "USA-road-d.NY", "wave", "git-objects-git", "delaunay-2^18", "p2p-Gnutella31"),
    "sssp": ("USA-road-d.NY", "rmat-20-ef16"),
    "seeds": tuple(g.name for g in (*REAL, *GENERATED) if g.design),
    "hard": ("p2p-Gnutella31", "barabasi-albert-2^19", "erdos-renyi-2^19-4", "erdos-renyi-2^18-16",
             "erdos-renyi-2^19-16", "regular-2^17", "regular-2^19", "regular-10^6-32"),
    "external": ("cnr-2000", "git-objects-git", "delaunay-2^20", "delaunay-2^20-shuffled",
                 "barabasi-albert-2^19", "watts-strogatz-2^19", "rmat-24-ef16"),
    "streamed": ("git-objects-git", "rmat-21-ef8", "kronecker-20-ef16"),
    "tenth": ("cnr-2000", "delaunay-2^21", "kronecker-22-ef16", "rmat-24-ef16", "levels-2^24"),
    "monotone": ("cnr-2000", "grid-800^2-fine", "watts-strogatz-2^18-fine", "delaunay-2^20", "kronecker-20-ef16",
                 "rmat-21-ef8"),
    "events": ("watts-strogatz-2^19", "watts-strogatz-2^17", "rmat-18-ef8", "grid-800^2"),
    "convert": ("git-objects-git", "cnr-2000", "travelmapping", "p2p-Gnutella31", "kronecker-20-ef16"),
}


def known() -> dict[str, Graph]:
    """All graphs by name."""
    return {graph.name: graph for graph in (*REAL, *GENERATED, *TWINS, *QUICK)}


def graphs_of(section: str, quick: bool, names: tuple[str, ...] = (), large: bool = False) -> list[Graph]:
    """What `section` measures, in order; of these only `names`, if any are given. Large ones only
    with `large`, or by their name."""
    chosen = [known()[name] for name in SECTIONS[section]] if not quick else list(QUICK)
    if names:
        return [graph for graph in chosen if graph.name in names]
    return [graph for graph in chosen if large or not graph.large]
