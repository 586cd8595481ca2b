"""Where the papers' real graphs are: public collections. A digest is written here where its publisher gives one; none
of these does, so fetch.py records what it got first and compares with that afterwards."""

from __future__ import annotations

from dataclasses import dataclass

_ECL = "https://userweb.cs.txstate.edu/~burtscher/research/ECLgraph"
_SNAP = "https://snap.stanford.edu/data"
_COMMUNITIES = f"{_SNAP}/bigdata/communities"
_SPARSE = "https://suitesparse-collection-website.herokuapp.com/MM"
_DIMACS = "https://www.diag.uniroma1.it/challenge9/data/USA-road-d"


@dataclass(frozen=True)
class Source:
    """name : of the graph in the paper. paper : its number. file : as it is kept. url : where from. member : the file
    of a tar archive that is kept, "" if the download is the file itself. sha256 : of the download, "" if nobody has
    published it."""

    name: str
    paper: str
    file: str
    url: str
    member: str = ""
    sha256: str = ""


def _snap(paper: str, names: dict[str, str], base: str = _SNAP) -> tuple[Source, ...]:
    return tuple(Source(name, paper, file, f"{base}/{file}") for name, file in names.items())


def _matrix(paper: str, name: str, group: str, stem: str) -> Source:
    return Source(name, paper, f"{stem}.mtx", f"{_SPARSE}/{group}/{stem}.tar.gz", f"{stem}/{stem}.mtx")


SOURCES: tuple[Source, ...] = (
    *_snap("001", {
        "Amazon0601": "amazon0601.txt.gz", "as-skitter": "as-skitter.txt.gz", "cit-Patents": "cit-Patents.txt.gz",
        "Email-EuAll": "email-EuAll.txt.gz", "roadNet-CA": "roadNet-CA.txt.gz", "roadNet-PA": "roadNet-PA.txt.gz",
        "roadNet-TX": "roadNet-TX.txt.gz", "soc-LiveJournal1": "soc-LiveJournal1.txt.gz",
        "soc-Pokec": "soc-pokec-relationships.txt.gz", "web-BerkStan": "web-BerkStan.txt.gz",
        "web-Google": "web-Google.txt.gz", "web-NotreDame": "web-NotreDame.txt.gz",
        "web-Stanford": "web-Stanford.txt.gz", "WikiTalk": "wiki-Talk.txt.gz"}),
    *_snap("001", {
        "com-amazon": "com-amazon.ungraph.txt.gz", "com-dblp": "com-dblp.ungraph.txt.gz",
        "com-LiveJournal": "com-lj.ungraph.txt.gz", "com-youtube": "com-youtube.ungraph.txt.gz"}, _COMMUNITIES),
    *(Source(name, "002", f"{name}.egr", f"{_ECL}/{name}.egr") for name in (
        "2d-2e20.sym", "amazon0601", "as-skitter", "citationCiteseer", "cit-Patents", "coPapersDBLP", "delaunay_n24",
        "europe_osm", "in-2004", "internet", "kron_g500-logn21", "rmat16.sym", "rmat22.sym", "soc-LiveJournal1",
        "uk-2002", "USA-road-d.NY", "USA-road-d.USA")),
    _matrix("003", "sk-2005", "LAW", "sk-2005"),
    _matrix("004", "asia.osm", "DIMACS10", "asia_osm"), _matrix("004", "msdoor", "INPRO", "msdoor"),
    _matrix("004", "circuit5M_dc", "Freescale", "circuit5M_dc"), _matrix("004", "circuit5M", "Freescale", "circuit5M"),
    _matrix("004", "flickr", "Gleich", "flickr"), _matrix("004", "kron_g500-logn20", "DIMACS10", "kron_g500-logn20"),
    Source("USA-road.d-CAL", "004", "USA-road-d.CAL.gr.gz", f"{_DIMACS}/USA-road-d.CAL.gr.gz"),
    Source("web-NotreDame", "004", "web-NotreDame.txt.gz", f"{_SNAP}/web-NotreDame.txt.gz"),
)
