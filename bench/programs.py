"""Programs of other authors that the user has built: where they are, the files that they read, and what they print."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import zarr

from .commands import Finished, run_command

# Arcs above which no text file is written for a program that reads nothing else.
MOST_LINES = 50_000_000
ABSENT = {"failure": "not built here", "again": True}
_TRIAL = re.compile(r"^Trial Time:\s*([\d.]+)", re.MULTILINE)


@dataclass(frozen=True)
class Program:
    """name : of the folder of its checkout. file : below it. source : where it is from. option : what `--program` calls
    it (empty: name)."""

    name: str
    file: str
    source: str
    option: str = ""


@dataclass(frozen=True)
class DiameterProgram(Program):
    """One that gives a diameter. suffix, write : of the file that it reads, see _file. patterns : where its last word
    on `diameter`, `bfs` and `solve` (seconds) is in what it prints. arguments : before the file. serial : one thread
    computes. of_largest : its answer is that of the component with the most vertices."""

    suffix: str = ""
    write: Callable[[Path, Path], str | None] = field(default=lambda *_: "", repr=False)
    patterns: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    serial: bool = False
    of_largest: bool = False


class Programs:
    """Those below a folder of checkouts; None: none. files : folder for what they read, made once a graph. named :
    where some of NAMED are instead."""

    def __init__(self, folder: Path | None, files: Path, named: Mapping[str, Path] | None = None) -> None:
        self._folder, self._files, self._named = folder, files, named or {}

    def path(self, program: Program) -> Path | None:
        """The built program, None if it is not there."""
        found = self._named.get(program.option or program.name)
        if found is not None:
            return found
        found = None if self._folder is None else self._folder / program.name / program.file
        return found if found is not None and found.is_file() else None

    def diameter(self, program: DiameterProgram, store: Path, threads: int, limit: float) -> dict[str, Any]:
        """diameter, solve (seconds that it says), bfs as it counts, wall seconds and peak_bytes of the command; or
        {"failure": why}."""
        path = self.path(program)
        if path is None:
            return dict(ABSENT)
        made = self._file(store, program.suffix, program.write)
        if isinstance(made, str):
            return {"failure": made}
        done = run_command([path, *program.arguments, made], limit,
                           {"OMP_NUM_THREADS": str(1 if program.serial else threads)})
        if done.failure is not None:
            return {"failure": done.failure, "seconds": done.seconds, "peak_bytes": done.peak_bytes}
        said = f"{done.out}\n{done.err}"
        found = {name: re.findall(pattern, said, re.MULTILINE) for name, pattern in program.patterns.items()}
        if not all(found.values()):
            return {"failure": f"said nothing of {', '.join(name for name, some in found.items() if not some)}"}
        figures = {name: float(some[-1]) for name, some in found.items()}
        return {"diameter": int(figures["diameter"]), "bfs": int(figures["bfs"]), "solve": figures["solve"],
                **_costs(done)}

    def gapbs_bfs(self, store: Path, sources: list[int], threads: int, limit: float) -> dict[str, Any]:
        """Median seconds of the direction-optimizing BFS of the GAP suite from these vertices."""
        path = self.path(GAPBS_BFS)
        if path is None:
            return dict(ABSENT)
        made = self._file(store, ".sg", write_gapbs)
        if isinstance(made, str):
            return {"failure": made}
        seconds: list[float] = []
        for source in sources:
            done = run_command([path, "-f", made, "-r", str(source), "-n", "3"], limit,
                               {"OMP_NUM_THREADS": str(threads)})
            if done.failure is not None:
                return {"failure": done.failure}
            seconds += [float(one) for one in _TRIAL.findall(done.out)]
        return {"solve": float(np.median(seconds)), **_costs(done)}

    def _file(self, store: Path, suffix: str, write: Callable[[Path, Path], str | None]) -> Path | str:
        """The file of a store for a program, made now if it is not there; or why there is none."""
        self._files.mkdir(parents=True, exist_ok=True)
        target = self._files / f"{store.name.removesuffix('.zarr')}{suffix}"
        if not target.exists():
            partial = target.with_name(target.name + ".partial")
            refused = write(store, partial)
            if refused is not None:
                return refused
            partial.rename(target)
        return target


def _costs(done: Finished) -> dict[str, Any]:
    return {"seconds": done.seconds, "cpu_seconds": done.cpu_seconds, "peak_bytes": done.peak_bytes}


def rows_of(store: Path) -> tuple[np.ndarray, np.ndarray]:
    """offsets : int64[n + 1]; neighbours : uint32[m] or uint64[m]."""
    group = zarr.open_group(store, mode="r")
    return np.asarray(group["indptr"]).astype(np.int64), np.asarray(group["indices"])


def write_ecl(store: Path, target: Path) -> str | None:
    """The format of F-Diam: n, arcs, offsets and neighbours as int32; why not, where they do not fit."""
    offsets, neighbours = rows_of(store)
    if len(neighbours) >= 2**31:
        return "its format has 32-bit arcs"
    with open(target, "wb") as out:
        for part in (np.array([len(offsets) - 1, len(neighbours)]), offsets, neighbours):
            out.write(part.astype("<i4").tobytes())
    return None


def write_pairs(store: Path, target: Path) -> str | None:
    """Both directions of every edge, a line each; why not, where they are too many for a text."""
    offsets, neighbours = rows_of(store)
    if len(neighbours) > MOST_LINES:
        return f"left out: a text of {len(neighbours):,} lines"
    tails = np.repeat(np.arange(len(offsets) - 1, dtype=np.uint32), np.diff(offsets))
    _write_columns(tails, neighbours, target)
    return None


def write_gapbs(store: Path, target: Path) -> str | None:
    """The serialized format of the GAP suite, undirected."""
    offsets, neighbours = rows_of(store)
    if len(offsets) > 2**31:
        return "its format has 32-bit vertices"
    with open(target, "wb") as out:
        for part in (np.zeros(1, np.uint8), np.array([len(neighbours), len(offsets) - 1], np.int64), offsets,
                     neighbours.astype("<i4")):
            out.write(part.tobytes())
    return None


def write_edges(store: Path, target: Path) -> str | None:
    """Every edge once, a line each; as write_pairs."""
    offsets, neighbours = rows_of(store)
    if len(neighbours) > 2 * MOST_LINES:
        return f"left out: a text of {len(neighbours) // 2:,} lines"
    tails = np.repeat(np.arange(len(offsets) - 1, dtype=np.uint32), np.diff(offsets))
    once = tails < neighbours
    _write_columns(tails[once], neighbours[once], target)
    return None


def _write_columns(src: np.ndarray, dst: np.ndarray, target: Path) -> None:
    options = pyarrow.csv.WriteOptions(include_header=False, delimiter="\t")
    pyarrow.csv.write_csv(pa.table({"src": src, "dst": dst.astype(np.uint32)}), target, options)


FDIAM = DiameterProgram(
    "F-Diam", "fdiam", "github.com/burtscher/F-Diam", "", ".egr", write_ecl,
    {"bfs": r"^iterations: (\d+)", "diameter": r"^final diameter: (\d+)", "solve": r"^runtime: ([\d.]+) s"})
AKIBA = DiameterProgram(
    "graph-diameter", "bin/test", "github.com/kawatea/graph-diameter", "", ".tsv", write_pairs,
    {"bfs": r"^#BFS : \d+ -> (\d+)", "diameter": r"^Diameter : (\d+)", "solve": r"^Time : ([\d.]+) sec"}, serial=True)
TEEXGRAPH = DiameterProgram(
    "teexgraph", "teexgraph", "github.com/franktakes/teexgraph", "", ".edges", write_edges,
    {"bfs": r"^Iterations:\s*(\d+)", "diameter": r"WCC diameter:\s*(\d+)", "solve": r"^Time passed: ([\d.e+-]+) sec"},
    of_largest=True)
VIENNOT = DiameterProgram(
    "weighted-diameter", "mdiam", "github.com/lviennot/weighted-diameter", "", ".edges", write_edges,
    {"bfs": r"^D=\d+ nbfs=(\d+)", "diameter": r"^#,diam:(\d+)", "solve": r"^-- diam ([\d.e+-]+)s"},
    ("-symmetrize", "-simple", "-largest-scc", "-diameter", "-verbosity", "1"), serial=True, of_largest=True)
# By the names that tables have.
DIAMETERS = {"F-Diam": FDIAM, "Graph-Diameter": AKIBA, "teexGraph": TEEXGRAPH, "weighted-diameter": VIENNOT}
GAPBS_BFS = Program("gapbs", "bfs", "github.com/sbeamer/gapbs", "gapbs-bfs")
GAPBS_SSSP = Program("gapbs", "sssp", "github.com/sbeamer/gapbs", "gapbs-sssp")
NAMED: dict[str, Program] = {
    program.option or program.name: program for program in (*DIAMETERS.values(), GAPBS_BFS, GAPBS_SSSP)}
