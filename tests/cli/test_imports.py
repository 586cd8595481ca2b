"""What a command may import once its kernels are there: what it uses, since each library takes up to half a second."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench.imports import COMMANDS, modules_of, prepare, table
from tests.helpers.waiting import PATIENCE

# Other packages, and modules of the standard library and of this package, that take long or are of few runs.
HEAVY = frozenset(
    "numba llvmlite numpy scipy pandas polars networkx matplotlib rich jinja2 tabulate psutil dask distributed"
    " pyarrow zarr numcodecs crc32c asyncio importlib.metadata logging decimal concurrent.futures emdiam.numba_private"
    " numpy.ma emdiam.external.engine emdiam.gpu.engine emdiam.gpu.device emdiam.dask.engine".split())
RUN = {"logging", "decimal", "concurrent.futures"}
KERNELS = {"numpy", "llvmlite", *RUN}
TABLE, PLANS = {"tabulate", "importlib.metadata"}, {"emdiam.external.engine"}
MATRIX = {"zarr", "numcodecs", "asyncio", "importlib.metadata"}  # whose parts zarr reads and writes
# What commands may import of it, by their beginnings, the first that fits: never numba.
ALLOWED = {
    "--version": set[str](), "info": {"numpy"}, "exact": KERNELS, "approx": {*KERNELS, *PLANS}, "verify": KERNELS,
    "distances": KERNELS, "sssp": KERNELS, "ecc g.zarr --out": {*KERNELS, *TABLE, "pyarrow"}, "ecc": {*KERNELS, *TABLE},
    "plan": {*KERNELS, *TABLE, *PLANS, "emdiam.gpu.device"}, "apsp": {*KERNELS, *MATRIX},
    "convert g.txt": {*KERNELS, "pyarrow"}, "convert": {"numpy", *RUN, "pyarrow"}, "generate": KERNELS,
    "reorder": KERNELS,
}
# Commands of a program, one after another.
ALL = """
import sys
from emdiam.cli.main import group
for line in sys.stdin:
    group([*line.split(), "--quiet"], standalone_mode=False)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of all commands, whose kernels are there."""
    folder = tmp_path_factory.mktemp("commands")
    prepare(folder)
    subprocess.run([sys.executable, "-c", ALL], input="\n".join(COMMANDS[1:]), text=True, cwd=folder, check=True,
                   timeout=PATIENCE, capture_output=True)
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_import_what_they_use(place: Path, command: str) -> None:
    found = HEAVY & modules_of(command, place).keys()
    allowed = next(names for beginning, names in ALLOWED.items() if command.startswith(beginning))
    assert found <= allowed
    assert ("llvmlite" in found) == ("llvmlite" in allowed), "a command that calls kernels loads them"


def test_the_certificate_of_a_diameter_brings_nothing_of_other_kinds(place: Path) -> None:
    """Of results along weights, arcs or of every vertex, nor of paths."""
    modules = modules_of("exact g.zarr --certificate c.json", place)
    others = ("emdiam.methods.weighted", "emdiam.methods.directed", "emdiam.methods.eccentricity", "emdiam.paths")
    assert "emdiam.certificates.writing" in modules
    assert [name for name in modules if name.startswith(others)] == []


def test_the_table_has_a_row_for_each_command() -> None:
    text = table(["--version"])
    row = text.splitlines()[2]
    assert row.startswith("| `--version` | ") and int(row.split("|")[2]) > 50 and "numpy" in text.splitlines()[0]
