#!/usr/bin/env python3
"""make_kernels.py [--for LEVELS | --for this] [--only PARTS] [-o FOLDER] [--usual]: compile kernels of runs ahead.

Without --for: for x86-64-v2, x86-64-v3 and x86-64-v4, into the package (emdiam/objects, which a wheel has that is built
then); a process on a processor that has one of these levels loads them, and needs no compiler. With --for this: for
the processor at hand, into the cache that runs look in (~/.cache/emdiam), as the runs themselves would do. Kernels are
those that the commands of PARTS call on small graphs: processes run them side by side, and compile what they call.
Objects that none of them calls any more are deleted. With --usual: write the names of those that a first run of each
command calls to emdiam/usual_kernels.json, by which such a run says how many are to be compiled. Run it from the root
of a tree.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

THIS = "this"
_SECONDS = 4.0  # between lines of progress

# Commands of one process, one after another; "library" is call_library. Graphs are of small and of large diameter
# (distances of one, two and four bytes), in one piece and in many, large enough for dense levels, and have weights of
# every width.
PARTS = {
    "first": """
        generate geometric geometric.zarr --vertices 2^16 --average-degree 14
        info geometric.zarr
        plan geometric.zarr
        exact geometric.zarr
    """,
    "second": """
        convert text.txt text.zarr
        exact text.zarr --certificate text.json
        verify text.json text.zarr
    """,
    "exact": """
        generate erdos-renyi random.zarr --vertices 5000 --average-degree 10
        exact random.zarr --certificate random.json
        verify random.json random.zarr
        generate rmat rmat.zarr --vertices 2^15 --edge-factor 16
        exact rmat.zarr
        generate erdos-renyi sparse.zarr --vertices 2^15 --average-degree 1.5
        exact sparse.zarr
        generate geometric pieces.zarr --vertices 2^16 --average-degree 5
        exact pieces.zarr
        generate grid grid.zarr --sides 200x300
        exact grid.zarr --certificate grid.json
        verify grid.json grid.zarr
        convert gaps.txt gaps.zarr
        exact gaps.zarr --certificate gaps.json
        verify gaps.json gaps.zarr
        generate path path.zarr --vertices 600
        exact path.zarr --certificate path.json
        verify path.json path.zarr
        generate barabasi-albert hubs.zarr --vertices 2^12
        exact hubs.zarr
        generate path long.zarr --vertices 70000
        exact long.zarr --certificate long.json
        verify long.json long.zarr
        reorder pieces.zarr cluster.zarr --order cluster --chunk 2^10
        exact cluster.zarr --arena 512KiB
    """,
    "convert": """
        convert text.txt text.zarr
        convert names.txt names.zarr
        convert weights.txt weights.zarr --weights
        convert floats.txt floats.zarr --weights
        convert wide.txt wide.zarr --weights
        convert table.csv table.zarr --weights
        convert metis.graph metis.zarr
        convert web.graph web.zarr
        convert text.txt arcs.zarr --directed
        convert weights.txt both.zarr --directed --weights
        generate grid grid.zarr --sides 30x40
        generate erdos-renyi random.zarr --vertices 2^12 --average-degree 16
        info random.zarr --check
        info random.zarr --profile
        info arcs.zarr --components
        reorder random.zarr degree.zarr --order degree
        reorder random.zarr breadth.zarr --order bfs
        apply text.zarr changed.zarr --add text.txt --remove text.txt
        apply arcs.zarr changed-arcs.zarr --add text.txt
        apply both.zarr changed-both.zarr --add weights.txt
        library
    """,
    "distances": """
        generate erdos-renyi random.zarr --vertices 2^12 --average-degree 16
        generate rmat rmat.zarr --vertices 2^15 --edge-factor 16
        ecc rmat.zarr
        approx rmat.zarr
        distances rmat.zarr --sample 64
        generate erdos-renyi sparse.zarr --vertices 2^15 --average-degree 1.5
        generate path path.zarr --vertices 600
        generate path long.zarr --vertices 70000
        ecc random.zarr --certificate random.json --out table.csv
        verify random.json random.zarr
        ecc sparse.zarr
        ecc path.zarr
        distances random.zarr
        distances sparse.zarr --sample 64
        distances path.zarr
        distances path.zarr --hyperball 6
        approx random.zarr
        approx sparse.zarr
        approx path.zarr
        approx long.zarr
        approx path.zarr --method sweep
    """,
    "paths": """
        convert weights.txt weights.zarr --weights
        exact weights.zarr --weighted --certificate weights.json
        verify weights.json weights.zarr
        ecc weights.zarr --weighted
        approx weights.zarr --weighted
        sssp weights.zarr --source 0 --target 5
        apsp weights.zarr --out weights.apsp
        convert floats.txt floats.zarr --weights
        exact floats.zarr --weighted --certificate floats.json
        verify floats.json floats.zarr
        ecc floats.zarr --weighted
        approx floats.zarr --weighted
        sssp floats.zarr --source 0
        apsp floats.zarr --out floats.apsp
        convert wide.txt wide.zarr --weights
        exact wide.zarr --weighted
        sssp wide.zarr --source 0
        apsp wide.zarr --out wide.apsp
        convert text.txt plain.zarr
        sssp plain.zarr --source 0
        apsp plain.zarr --out plain.apsp
        convert text.txt arcs.zarr --directed
        exact arcs.zarr --directed
        ecc arcs.zarr --directed out
        distances arcs.zarr --directed
        sssp arcs.zarr --source 0
        apsp arcs.zarr --out arcs.apsp
        convert weights.txt both.zarr --directed --weights
        sssp both.zarr --source 0
        apsp both.zarr --out both.apsp
    """,
}


# First runs that --usual looks at, each in a process, in this order; "python" is one of a program.
USUAL = """
    generate geometric random.zarr --vertices 2^16 --average-degree 14 --weights uniform:1,9
    convert text.txt text.zarr
    apply text.zarr changed.zarr --add text.txt
    reorder random.zarr breadth.zarr --order bfs
    exact random.zarr --certificate random.json
    verify random.json random.zarr
    approx random.zarr
    ecc random.zarr
    distances random.zarr --sample 64
    sssp random.zarr --source 0
    apsp text.zarr --out text.apsp
    plan random.zarr
    info random.zarr --check
    python
"""
_USED = """
import atexit, sys
from emdiam import jit
jit.CompiledKernel.patience = 0.0
atexit.register(lambda: print(*("kernel", *sorted(f"{m}:{p.split('/')[1].split('.')[0]}" for m, p in jit._Spent.used))))
if sys.argv[1:] == ["python"]:
    import numpy, emdiam
    emdiam.diameter(numpy.random.default_rng(1).integers(0, 40_000, (200_000, 2)))
else:
    from emdiam.cli.main import group
    group([*sys.argv[1:], "--quiet"], standalone_mode=False)
"""


def usual(file: Path) -> None:
    """Write the names of the kernels of USUAL, by purpose and module."""
    found = dict[str, dict[str, list[str]]]()
    with tempfile.TemporaryDirectory(prefix="emdiam-") as scratch:
        with contextlib.chdir(scratch):
            write_inputs()
        for line in USUAL.strip().split("\n"):
            done = subprocess.run([sys.executable, "-c", _USED, *line.split()], cwd=scratch, check=True,
                                  stdout=subprocess.PIPE, text=True)
            names = found.setdefault(line.split()[0], {})
            for module, name in sorted({tuple(one.split(":")) for one in done.stdout.split("\n")[-2].split()[1:]}):
                names.setdefault(module, []).append(name)
            print(f"{line.strip()}: {sum(map(len, names.values()))} kernels", flush=True)
    file.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


# -- one process of them ---------------------------------------------------------------------------
def write_inputs() -> None:
    """Edges as text, in the current folder: with weights of every width, with names, and as a table."""
    import numpy as np

    rng = np.random.default_rng(1)
    pairs = rng.integers(0, 300, (900, 2))
    for name, weights in {"weights": rng.integers(1, 200, 900), "wide": rng.integers(1, 1 << 32, 900),
                          "floats": rng.random(900)}.items():
        lines = [f"{a} {b} {weight}\n" for (a, b), weight in zip(pairs.tolist(), weights.tolist(), strict=True)]
        Path(f"{name}.txt").write_text("".join(lines))
    Path("text.txt").write_text("".join(f"{a} {b}\n" for a, b in pairs.tolist()))
    Path("gaps.txt").write_text("".join(f"{3 * a} {3 * b}\n" for a, b in pairs.tolist()))
    Path("metis.graph").write_text("4 3\n2 3\n1\n1 4\n3\n")
    Path("web.graph").write_bytes(bytes.fromhex("56ad5c"))  # a BVGraph: a path of 4
    Path("web.offsets").write_bytes(bytes.fromhex("88102100"))
    Path("web.properties").write_text("graphclass=it.unimi.dsi.webgraph.BVGraph\nnodes=4\narcs=3\nwindowsize=0\n"
                                      "minintervallength=0\nzetak=3\ncompressionflags=\n")
    Path("names.txt").write_text("".join(f"v{a} v{b}\n" for a, b in pairs.tolist()))
    Path("table.csv").write_text("source,target,weight\n" + "".join(f"{a},{b},1.5\n" for a, b in pairs.tolist()))


def call_library() -> None:
    """What functions call for graphs in memory that they have no store of."""
    import numpy as np

    import emdiam

    rng = np.random.default_rng(1)
    for count in (900, 40_000):
        pairs = rng.integers(0, count // 3, (count, 2))
        emdiam.diameter(pairs)
        emdiam.eccentricities(pairs)
        emdiam.diameter(np.c_[pairs, rng.integers(1, 200, count)], weighted=True)
        emdiam.diameter(np.c_[pairs, rng.random(count)], weighted=True)
        emdiam.shortest_paths(np.c_[pairs, rng.random(count)], 0, weighted=True)


def run_part(part: str, target: str, folder: Path) -> None:
    """Run the commands of a part in an empty folder, and keep the kernels that they call in `folder`; print a line
    for each command, and one with the file of each kernel."""
    from emdiam import jit, kernel_objects
    from emdiam.cli.main import group

    called: Callable[..., Any] = jit.CompiledKernel._called_anew
    kernel_objects.SHIPPED = folder.parent
    locks = Path.cwd().parent  # of all processes: what one compiles, others wait for
    out = os.fdopen(os.dup(1), "w", buffering=1)  # of the parent; commands print elsewhere
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def kept(kernel: jit.CompiledKernel, arguments: tuple[Any, ...]) -> Any:
        same = kernel_objects.plain(arguments)
        kinds = kernel_objects.kind_of(same)
        made_for = kernel_objects.processor() if target == THIS else kernel_objects.interface(target)
        symbol, place = kernel.name_of(kinds, made_for)
        with open(locks / symbol, "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if target != THIS and kernel_objects.read(folder / place) is None:
                from emdiam import numba_private

                code = numba_private.compile_object(kernel, symbol, same, kinds, kernel_objects.machine(target))
                kernel_objects.write(folder / place, code)
            print(place, file=out)
            return called(kernel, arguments)

    jit.CompiledKernel._called_anew = kept  # type: ignore[method-assign]
    jit.CompiledKernel.patience = 0.0
    write_inputs()
    for line in PARTS[part].split("\n"):
        if line.split() == ["library"]:
            call_library()
        elif line.strip():
            with suppress(SystemExit):
                group([*line.split(), "--quiet"], standalone_mode=False)
        if line.strip():
            print(file=out)


# -- all processes ---------------------------------------------------------------------------------
class Progress:
    """How far it is. n_commands : of all processes. kernels : files of objects."""

    def __init__(self, n_commands: int) -> None:
        self.n_commands, self.commands, self.kernels = n_commands, 0, set[Path]()
        self._begin, self._over = time.monotonic(), threading.Event()

    def hear(self, folder: Path, line: str) -> None:
        """A line of a process: of a kernel, or of a command that is done."""
        if line:
            self.kernels.add(folder / line)
        else:
            self.commands += 1

    def __str__(self) -> str:
        return (f"kernels: {len(self.kernels)} ready after {self.commands} of {self.n_commands} commands,"
                f" {time.monotonic() - self._begin:.0f} s")

    def tell(self) -> None:
        """Print a line now and then, until close()."""
        while not self._over.wait(_SECONDS):
            print(self, flush=True)

    def close(self) -> None:
        """Print the last line."""
        self._over.set()
        print(self, flush=True)


def make(folder: Path, scratch: Path, target: str, part: str, progress: Progress) -> None:
    """Run a part in a process of its own, in a folder in `scratch`. Raises SystemExit, with what it says, where it
    fails."""
    environment, place = dict(os.environ), scratch / f"{target}-{part}"
    place.mkdir()
    if target != THIS:  # What this processor cannot run is compiled for it, too, and kept nowhere else.
        environment |= {"NUMBA_CPU_NAME": target, "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(scratch / "cache")}
    command = [sys.executable, Path(__file__).resolve(), "--for", target, "--run", part, "-o", folder]
    with open(place / "errors", "w+") as errors, subprocess.Popen(
            command, cwd=place, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            progress.hear(folder / target, line.rstrip("\n"))
        if process.wait():
            errors.seek(0)
            raise SystemExit(f"the commands of {part} fail for {target}:\n{errors.read()}")


def stale(folder: Path, targets: Sequence[str], kernels: set[Path]) -> Iterator[Path]:
    """Objects in the folder that no command has called."""
    for target in targets:
        yield from (file for file in (folder / target).rglob("*.o") if file not in kernels)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make them."""
    from emdiam import kernel_progress
    from emdiam.kernel_objects import LEVELS, SHIPPED
    from emdiam.units import available_cores

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--for", dest="targets", type=lambda text: text.split(","), default=list(LEVELS),
                        help=f"levels of x86-64, or this (default: {','.join(LEVELS)})")
    parser.add_argument("--usual", action="store_true", help="write usual_kernels.json, and nothing else")
    parser.add_argument("--only", type=lambda text: text.split(","), default=list(PARTS),
                        help=f"of the parts {','.join(PARTS)}")
    parser.add_argument("-o", dest="folder", type=Path, default=SHIPPED, help="default: emdiam/objects")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.usual:
        usual(kernel_progress.USUAL)
        return 0
    folder = asked.folder.resolve()
    if asked.run:
        run_part(asked.run, asked.targets[0], folder / asked.targets[0])
        return 0
    jobs = [(target, part) for part in asked.only for target in asked.targets]
    for target in set(asked.targets) - {THIS}:
        (folder / target).mkdir(parents=True, exist_ok=True)
    progress = Progress(sum(len(PARTS[part].strip().split("\n")) for _, part in jobs))
    teller = threading.Thread(target=progress.tell)
    teller.start()
    try:
        with (tempfile.TemporaryDirectory(prefix="emdiam-") as scratch,
              ThreadPoolExecutor(available_cores() + 1) as pool):
            list(pool.map(lambda job: make(folder, Path(scratch), *job, progress), jobs))
    finally:
        progress.close()
        teller.join()
    if set(asked.only) == set(PARTS):
        for old in stale(folder, asked.targets, progress.kernels):
            old.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
