"""`python -m bench.imports [-o FILE]`: what every command imports, and how long that takes, once its kernels are there.

Each command runs on a small graph, so that kernels are compiled and bytecode is written, and then some times more; of
each module the shortest time counts, since other processes only make it longer. Modules
of the standard library that the command line needs are of every command: `--version` has those alone.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from .machine import facts

# Kinds of commands: files that they read are made by `prepare`, or by those before them.
COMMANDS = (
    "--version", "convert g.txt g.zarr", "convert g.csv of-csv.zarr", "convert g.parquet of-parquet.zarr",
    "generate grid w.zarr --sides 30x40 --weights uniform:1,9", "info g.zarr", "plan g.zarr",
    "exact g.zarr --certificate c.json", "ecc g.zarr", "ecc g.zarr --out table.csv", "approx g.zarr",
    "approx g.zarr --method clusters", "distances g.zarr", "sssp w.zarr --source 0", "apsp w.zarr --out m.zarr",
    "reorder g.zarr r.zarr --order bfs", "verify c.json g.zarr")
_WRITING = ("convert", "generate", "apsp", "reorder")
# Of other packages, in the order of the table; the standard library is the rest.
PACKAGES = ("emdiam", "numpy", "click", "llvmlite", "pyarrow", "zarr", "numcodecs", "tabulate", "psutil", "numba")
# Python writes "import time: self [us] | cumulative | imported package".
_LINE = re.compile(r"^import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)$", re.MULTILINE)
_TURNS = 7


def prepare(folder: Path) -> None:
    """Write the inputs of COMMANDS: a random graph as text, CSV and Parquet."""
    import pyarrow as pa
    from pyarrow import parquet

    pairs = np.random.default_rng(2).integers(0, 3_000, (20_000, 2))
    np.savetxt(folder / "g.txt", pairs, "%d")
    np.savetxt(folder / "g.csv", pairs, "%d", ",", header="source,target", comments="")
    parquet.write_table(pa.table({"source": pairs[:, 0], "target": pairs[:, 1]}), folder / "g.parquet")


def modules_of(command: str, folder: Path) -> dict[str, float]:
    """Milliseconds of each module that the command imports, without those that it imports itself."""
    over = ["--force"] if command.startswith(_WRITING) else []
    done = subprocess.run([sys.executable, "-X", "importtime", "-m", "emdiam", *command.split(), *over], cwd=folder,
                          capture_output=True, text=True, check=True)
    return {name: int(time) / 1000 for time, name in _LINE.findall(done.stderr)}


def row_of(command: str, folder: Path) -> list[str]:
    """Its row of the table: modules and milliseconds, in all and of each package."""
    modules_of(command, folder)
    turns = [modules_of(command, folder) for _ in range(_TURNS)]
    least = {name: min(turn.get(name, times) for turn in turns) for name, times in turns[-1].items()}
    of = {package: sum(time for name, time in least.items() if name.split(".")[0] == package) for package in PACKAGES}
    cells = [f"{time:.0f}" if time else "" for time in of.values()]
    return [f"`{command}`", f"{len(least)}", f"{sum(least.values()):.0f}", *cells]


def table(commands: Sequence[str]) -> str:
    """Lines of Markdown."""
    head = ["command", "modules", "ms", *PACKAGES]
    with tempfile.TemporaryDirectory() as name:
        prepare(Path(name))
        rows = [row_of(command, Path(name)) for command in commands]
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.imports", description=__doc__)
    parser.add_argument("-o", metavar="FILE", type=Path, help="where the table goes (default: standard output)")
    given = parser.parse_args(arguments)
    here = facts()
    text = (f"# What commands import\n\nBy `python -m bench.imports`, Python {here['python']}, {here['cpu']},"
            f" {here['usable_cores']} cores: modules, and milliseconds in all and of each package by `-X importtime`,"
            f" of each module the shortest of {_TURNS} runs.\n\n{table(COMMANDS)}")
    if given.o is None:
        sys.stdout.write(text)
    else:
        given.o.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
