"""Options that a run would ignore are refused where they are set, and remedies are those of the running command."""

from __future__ import annotations

import shutil
from contextlib import chdir
from pathlib import Path

import pytest

import emdiam
from emdiam.errors import InputError
from tests.conftest import Run

# Words of a command line, and parts of the error.
REFUSED = [
    ("info g.zarr --sample 4", "only --profile has --sample; give --profile too"),
    ("info g.zarr --plots p --time-limit 3s", "only --profile has --plots and --time-limit"),
    ("info --device gpu:999", "GPU"), ("info --device gpu --check", "a GPU has no such figures: '--check'"),
    ("exact w.zarr --weighted --no-batches", "--no-batches is not for weighted graphs; leave it, or --weighted, out"),
    ("exact d.zarr --directed --no-batches", "--no-batches is not for graphs with directions"),
    ("exact d.zarr --directed --weighted --no-batches", "--no-batches is not for graphs with directions and weights"),
    ("exact d.zarr --directed --method apsp --seed 3", "--seed is of the methods pivots and graph-diameter"),
    ("exact d.zarr --directed --weighted --method apsp --seed 0", "--seed is of the methods pivots"),
    ("distances g.zarr --sources S --out T.csv --quantile 0.5", "a table of distances has no --quantile"),
    ("distances w.zarr --weighted --sources S --out T.csv --seed 0", "a table of distances has no --seed"),
    ("distances g.zarr --exact --seed 5", "nothing is drawn at random with --exact"),
    ("sssp g.zarr --source 0 --method dijkstra --delta 3", "the method dijkstra has no buckets, and so no --delta"),
    ("sssp w.zarr --source 0 --delta 3", "the method dijkstra has no buckets"),
    ("tradeoff g.zarr --out t --methods sweep --euler", "--euler is of clusters, not of --methods: 'sweep'"),
    ("tradeoff g.zarr --out t --methods sweep --levels 2", "--levels is of clusters"),
    ("tradeoff g.zarr --out t --methods sweep --masters 4", "--masters is of clusters"),
    ("tradeoff g.zarr --out t --methods clusters --iterations 4", "--iterations is of sweep"),
    ("tradeoff g.zarr --out t --methods sweep --weighted", "this store has no weights; leave --weighted out"),
    ("plan g.zarr --probe 1s --no-probe", "--probe and --no-probe exclude each other"),
    ("plan w.zarr --weighted --probe 2s", "a probe is for plans along edges on the CPU"),
    ("plan w.zarr --weighted --vertex-state disk", "--vertex-state is not for weighted graphs: 'disk'; leave it"),
    ("plan g.zarr --method pivots --euler", "method pivots has no option: '--euler'"),
    ("plan g.zarr --method fdiam --batch 2", "method fdiam has no option: '--batch'"),
    ("exact g.zarr --method pivots --no-winnow", "has no option: '--no-winnow'; its own are: --seed, --no-batches"),
    ("ecc d.zarr --directed out --radius", "--radius is not for graphs with directions; leave it, or --directed, out"),
    ("approx g.zarr --method sweep --iterations 0", "'--iterations': 0 is not in the range x>=1"),
    ("exact g.zarr --vertex-state disk --direction paper", "state on disk does not go with a rule of --direction"),
    ("info g.zarr --components", "have no directions; convert the graph with --directed"),
    ("exact g.zarr --keep-reordered w.zarr --reorder always", "w.zarr: the target exists; choose another name"),
    ("verify km.json two.csv", "name one of them, as in --weight=km"),
    ("distances far.csv --weighted --exact --out x.csv", "differ too much for exact inverses of distances: '77.5'"),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of stores, files of edges and a certificate."""
    folder = tmp_path_factory.mktemp("graphs")
    with chdir(folder):
        Path("two.csv").write_text("src,dst,km,miles\n0,1,2,5\n1,2,3,6\n")
        Path("far.csv").write_text("src,dst,km\n0,1,1e20\n1,2,1234.0\n2,3,77.5\n")
        Path("S").write_text("0\n")
        emdiam.convert([(0, 1), (1, 2)], "g.zarr")
        emdiam.convert("two.csv", "w.zarr", weights="km")
        emdiam.convert("two.csv", "d.zarr", weights="km", directed=True)
        emdiam.exact("w.zarr", weighted=True, certificate="km.json")
    return folder


@pytest.fixture
def graphs(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, where the test runs."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("words, fault", REFUSED)
def test_it_is_refused(graphs: Path, command: Run, words: str, fault: str) -> None:
    done = command(*words.split())
    assert done.returncode == 2 and done.stdout == "", done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert fault in last, last
    assert not any(word in last for word in ("--force", "--weights=", "True", " of emdiam", "did you mean"))


@pytest.mark.parametrize("words", [
    "distances g.zarr --exact --seed 5 --time-limit 1min", "distances g.zarr --exact --seed 5 --certificate c",
    "sssp w.zarr --source 0 --method delta-stepping --delta 3", "info g.zarr --profile --sample 4 --time-limit 1min",
    "exact d.zarr --directed --weighted --method pivots --seed 3", "plan g.zarr --method clusters --euler --no-probe"])
def test_options_with_an_effect_are_not(graphs: Path, command: Run, words: str) -> None:
    done = command(*words.split(), "-q")
    assert done.returncode == 0, done.stderr


def test_python_refuses_them_too(graphs: Path) -> None:
    with pytest.raises(InputError, match="a probe is for plans along edges on the CPU: '2s'; leave probe= out"):
        emdiam.plan("w.zarr", weighted=True, probe="2s")
    with pytest.raises(InputError, match="euler=True is of clusters"):
        emdiam.tradeoff("g.zarr", "t", methods="sweep", euler=True)
    with pytest.raises(InputError, match="batches=False is not for weighted graphs"):
        emdiam.exact("w.zarr", weighted=True, batches=False)
    with pytest.raises(InputError, match="from_proof|an earlier proof"):
        emdiam.exact("w.zarr", weighted=True, from_proof="km.json", method="bounding")
    with pytest.raises(InputError, match=r'emdiam.reorder\(STORE, NEW, order="natural"\)'):
        emdiam.reorder("g.zarr", "b.zarr", "bfs")
        emdiam.apply("b.zarr", "n.zarr", add=[(3, 4)])
