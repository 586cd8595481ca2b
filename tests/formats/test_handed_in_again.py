"""More inputs as people have them, which were other graphs or refused with a remedy that led nowhere. See kinds.py."""

from __future__ import annotations

import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import emdiam
from emdiam.errors import InputError
from emdiam.formats.weights import WeightChoice
from tests.formats.kinds import Kind, checked, doubtful, read, refused
from tests.helpers.handed_in import INTERFACES, Facts

_FOUR, _THREE = Facts(4, 3, 3), Facts(3, 2, 2)


_FAR = [f"a{number} a{number + 1}" for number in range(1500)]
_LAYERS = ("1 1 2 1", "1 2 3 1", "2 1 3 1", "2 3 4 1")
_HADOOP = ("1\t2 3", "2\t3 1", "3\t4 5")

_LISTS = {
    "neighbours behind a tab": doubtful(".tsv", Facts(5, 5, 2), *_HADOOP),
    "the same as edges and weights": doubtful(".tsv", _FOUR, *_HADOOP),
    "weights behind a tab": read(".txt", _FOUR, "1\t2 0.5", "2\t3 0.25", "3\t4 1.5"),
    "sources that occur again behind a tab": read(".txt", _FOUR, "1\t2 5", "1\t2 7", "2\t3 6", "3\t4 7"),
    "lists padded with 0": refused(".txt", "1: 2 3 0", "2: 1 0 0", "3: 1 4 0", "4: 3 0 0"),
    "lists padded with -1": refused(".txt", "1: 2 3 -1", "2: 1 -1 -1", "3: 1 4 -1", "4: 3 -1 -1"),
    "lists that end with 0": refused(".txt", "1: 2 3 0", "2: 1 0", "3: 1 4 0", "4: 3 0"),
    "a square of padded lists": refused(".csv", "1,2,3,0", "2,1,0,0", "3,1,4,0", "4,3,0,0"),
    "lists with a vertex 0": read(".txt", Facts(4, 4, 2), "0: 1 2", "1: 0 2", "2: 0 1 3", "3: 2"),
    "layers": doubtful(".edges", Facts(4, 4, 2), *_LAYERS),
    "the same as edges and two values": doubtful(".edges", _THREE, *_LAYERS),
    "a single layer": doubtful(".txt", Facts(5, 4, 4), "1 1 2 1", "1 2 3 1", "1 3 4 1", "1 4 5 1"),
}

_MARKS = {
    "ports": doubtful(".txt", Facts(6, 3, 1), "10.0.0.1 10.0.0.2:80", "10.0.0.2 10.0.0.3:80", "10.0.0.3 10.0.0.4:443"),
    "a word and a number": doubtful(".txt", _FOUR, "edge 1: a b", "edge 2: b c", "edge 3: c d"),
    "numbered arrows": refused(".txt", "1: a -> b", "2: b -> c", "3: c -> d"),
    "tuples of networkx": refused(".edgelist", "(0, 0) (0, 1) {}", "(0, 1) (1, 1) {}"),
    "tuples without dicts": refused(".edgelist", "(0, 0) (0, 1)", "(0, 1) (1, 1)"),
}

_TITLES = {
    "a title": refused(".txt", "Friendship list", "a b", "b c"),
    "a title of three words": refused(".txt", "Monks and friends", "a b", "b c"),
    "a title of one word": refused(".txt", "Monks", "a b", "b c"),
    "a title with a colon": refused(".txt", "Edge list:", "a b", "b c"),
    "a title above a table": refused(".csv", "My monks", "a,b", "b,c"),
    "names that occur again": read(".txt", _THREE, "graph theory", "theory logic"),
}

_RELATIONS = {
    "tabs, and names with blanks": read(".sif", Facts(5, 4, 3), "a x\tpp\tb y", "b y\tpp\tc z\td", "c z\tpp\te"),
    "a vertex alone": read(".sif", Facts(5, 3, 2), "a x\tpp\tb", "b\tpp\tc\td", "lonely one"),
    "tabs and blanks": refused(".sif", "a\tpp b", "b\tpp\tc"),
    "no relation, names with blanks": refused(".sif", "a x\tb y", "b y\tc z"),
    "commas inside names": read(".sif", _THREE, "2,3-BPG pp X", "X pp Y"),
}

_TABLES = {
    "edges of Cytoscape": refused(".csv", "SUID,interaction,name,selected", "70,pp,a (pp) b,false",
                                   "72,pp,b (pp) c,false"),
    "vertices of Gephi": refused(".csv", "Id,Label,timeset", "a,A,", "b,B,", "c,C,"),
    "thousands with commas": doubtful(".csv", _THREE, "source,target", '"1,000","2,000"', '"2,000","3,000"'),
    "thousands with blanks": doubtful(".csv", _THREE, "source;target", "1 000;2 000", "2 000;3 000"),
    "a table of psql": refused(".txt", " src | dst ", "-----+-----", "   1 |   2", "   2 |   3", "(2 rows)"),
    "times before edges": doubtful(".txt", _FOUR, "2020-01-01 12:00:00 a b", "2020-01-01 12:00:01 b c",
                                    "2020-01-01 12:00:02 c d"),
    "times in brackets": refused(".txt", "[2020-01-01 12:00:00] a -> b", "[2020-01-01 12:00:01] b -> c"),
    "times at stations": refused(".txt", "trip_id,arrival_time,departure_time,stop_id", "t1,08:00:00,08:00:00,A",
                                  "t1,08:05:00,08:05:00,B"),
    "names in a comment": doubtful(".txt", _THREE, "#<provider-as>|<customer-as>|-1|<source>", "1|2|-1|bgp",
                                    "2|3|0|mlp"),
    "ids in braces": read(".csv", _THREE, "source,target", "{0a1b},{0a2b}", "{0a2b},{0a3b}"),
    "kinds of edges between the ends": doubtful(".txt", Facts(5, 5, 2), "0 0 1", "1 1 2", "2 0 3", "3 1 4", "0 1 4"),
    "sources above targets above weights": refused(".txt", "0 1 2 3 4", "1 2 3 4 5", "7 8 9 7 8"),
    "the number of edges above them": refused(".txt", "2", "3 2", "1 2", "2 3", "2 1", "1 2"),
    "seconds before edges": doubtful(".csv", Facts(4, 4, 2), "1082040961;10;12", "1082041021;10;13",
                                      "1082041081;12;11", "1082041141;12;13"),
    "layers before two sides": doubtful(".txt", Facts(5, 4, 4), "1 50 60 7", "1 70 60 7", "2 70 80 8", "2 80 90 8"),
    "numbers before two sides": doubtful(".tsv", Facts(5, 4, 4), "1\t90\t75", "2\t90\t76", "3\t91\t76", "4\t91\t77"),
    "three joined vertices": doubtful(".txt", Facts(3, 3, 1), "0,1,2", "1,0,2", "2,0,1"),
    "numbers before names": doubtful(".csv", _FOUR, "1;ann;bob;7", "2;bob;cem;7", "3;cem;dee;8"),
    "lists of one or more behind a tab": read(".txt", Facts(4, 3, 2), "1\t2 3 4", "2\t1", "3\t1", "4\t1"),
    "parents": doubtful(".csv", _FOUR, "id,parent_id", "1,0", "2,1", "3,2"),
    "parents from 0 on": read(".csv", _FOUR, "child,parent", "1,0", "2,1", "3,2", "0,0"),
    "names of fields": refused(".log", "time=12:00 src=a dst=b", "time=12:01 src=b dst=c"),
}

_SEEN = {
    "a letter that is not seen": doubtful(".txt", Facts(1503, 1502, 1500), *_FAR, "x\u200b a2", "x a1"),
    "an accent of its own": doubtful(".csv", Facts(1503, 1502, 1500), "source,target",
                                      *(row.replace(" ", ",") for row in _FAR), "Zoe\u0301,a2", "Zo\u00e9,a1"),
    "one form alone": read(".txt", Facts(1503, 1502, 1500), *_FAR, "x\u200b a2", "y a1"),
}

KINDS: dict[str, Kind] = {**_LISTS, **_TABLES, **_MARKS, **_TITLES, **_RELATIONS, **_SEEN}


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.thin(2)
@pytest.mark.parametrize("interface", INTERFACES)
def test_inputs_are_read_right_or_refused(name: str, interface: str, tmp_path: Path):
    outcome = checked(KINDS[name], interface, tmp_path)
    assert not KINDS[name].refusable or outcome.facts is None


def test_dates_are_no_ends_of_a_table(tmp_path: Path) -> None:
    days = [datetime.date(2020, 1, day) for day in (1, 2)]
    pq.write_table(pa.table({"from": days, "to": days, "a": [1, 2], "b": [2, 3]}), tmp_path / "g.parquet")
    with pytest.raises(InputError, match="as in columns=\"a,b\""):
        emdiam.diameter(tmp_path / "g.parquet")


@pytest.mark.parametrize(("negative", "least"), [(False, "0"), (True, "-2147483648")])
@pytest.mark.parametrize(("suffix", "rows"), [
    (".csv", "source,target,weight\n1,2,4294967296\n"),
    (".json", '[{"source": 1, "target": 2, "weight": 4294967296}]'),
    (".net", "*Vertices 2\n*Edges\n1 2 4294967296\n"), (".dl", "dl n=2\nformat=edgelist1\ndata:\n1 2 4294967296\n"),
    (".graphml", "<graphml><key id='w' for='edge' attr.name='weight' attr.type='long'/><graph edgedefault='undirected'>"
     "<edge source='a' target='b'><data key='w'>4294967296</data></edge></graph></graphml>")])
def test_the_range_of_weights_is_that_of_the_option(negative: bool, least: str, suffix: str, rows: str, tmp_path: Path
                                                    ) -> None:
    path = tmp_path / f"g{suffix}"
    path.write_text(rows)
    with pytest.raises(InputError, match=rf"outside {least}\.\.4294967295"):
        emdiam.convert(path, tmp_path / "g.zarr", weights=WeightChoice(negative=negative))


def test_what_is_said_of_the_trivial_graph_format_works(tmp_path: Path) -> None:
    (tmp_path / "g.tgf").write_text("1 a\n2 b\n3 c\n4 d\n#\n1 2\n2 3\n")
    with pytest.raises(InputError, match="the ids above it to a file of their own for"):
        emdiam.diameter(tmp_path / "g.tgf")
    (tmp_path / "edges.txt").write_text("1 2\n2 3\n")
    (tmp_path / "ids.txt").write_text("1\n2\n3\n4\n")
    report = emdiam.convert(tmp_path / "edges.txt", tmp_path / "g.zarr", vertices=tmp_path / "ids.txt")
    assert (report.record.n_vertices, report.record.n_edges) == (4, 2)


def test_times_are_no_example_of_ends(tmp_path: Path) -> None:
    (tmp_path / "g.txt").write_text("trip_id,arrival_time,departure_time,stop_id,stop_sequence\n"
                                    "t1,08:00:00,08:00:00,A,1\nt1,08:05:00,08:05:00,B,2\n")
    with pytest.raises(InputError, match="as in columns=\"trip_id,stop_id\""):
        emdiam.diameter(tmp_path / "g.txt")
