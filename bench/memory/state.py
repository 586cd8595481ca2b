"""python -m bench.memory.state: vertex state that is measured, of one BFS and of whole runs, in bytes a vertex.

Levels (80 of them, 2 edges a vertex, natural ids), streamed with an arena of 1 MiB at the least budget: the peak of a
process less that of the same at 2^18 vertices, over the vertices. Buffers and what malloc holds are in it, and of
pivots the least pool of batches. F-Diam is ended after a minute. The first round compiles kernels, and counts for
nothing.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from emdiam.cli.process import settle_malloc
from emdiam.errors import BudgetError, StoppedEarly
from emdiam.runs.opening import open_engine
from emdiam.store.store import open_store
from emdiam.units import peak_rss_bytes

from ..machine import facts
from .cells import named_bytes

_HERE = Path(__file__).resolve().parents[1]
_BASE, _ARENA = 18, 1 << 20
_LEVELS = ("--levels", "80", "--layout", "natural", "--quiet")
_MODULE = "bench.memory.state"
# What is measured, and the arguments of its process behind the store.
BFS = {"BFS without distances": ("--once", "reached"), "BFS": ("--once", "distances")}
RUNS = {"sweep": ("approx", "--method", "sweep"), "pivots": ("exact", "--method", "pivots"),
        "clusters": ("approx", "--method", "clusters"),
        "fdiam": ("exact", "--method", "fdiam", "--time-limit", "60")}
SUBJECTS = (*BFS, *RUNS)


def bytes_a_vertex(peaks: Sequence[int], base: int, log2: int) -> list[float]:
    """Each peak of 2^log2 vertices less that of the small graph, over the vertices."""
    return [round((peak - base) / (1 << log2), 2) for peak in peaks]


def once(path: Path, distances: bool) -> dict[str, int]:
    """One BFS from vertex 0 in this process at the least budget: its peak, and the planned one."""
    settle_malloc()
    with open_store(path) as store:
        try:
            with open_engine(store, method="sweep", memory_bytes=1 << 20, arena_bytes=_ARENA):
                raise RuntimeError("a budget of 1 MiB was not refused")
        except BudgetError as error:
            least = named_bytes(str(error))
        assert least is not None
        with open_engine(store, method="sweep", memory_bytes=least, arena_bytes=_ARENA) as engine:
            engine.bfs(0, distances=distances)
            return {"peak_bytes": peak_rss_bytes(), "planned_bytes": engine.plan.planned_rss_bytes}


def _measured(subject: str, path: Path) -> dict[str, int]:
    if subject in BFS:
        told: dict[str, int] = _answer(_MODULE, str(path), *BFS[subject])
        return told
    command, *options = RUNS[subject]
    asked = (command, str(path), *options, "--arena", str(_ARENA), "--vertex-state", "ram", "--json", "--quiet")
    refused = [sys.executable, "-m", "emdiam", *asked, "--memory", "1MiB"]
    least = named_bytes(subprocess.run(refused, capture_output=True, text=True).stderr)
    result = _answer("emdiam", *asked, "--memory", str(least))
    return {"peak_bytes": result["peak_rss_bytes"], "planned_bytes": result["planned_rss_bytes"],
            "finished": int(result["diameter"] is not None or command == "approx")}


def _answer(module: str, *arguments: str) -> Any:
    """What a process prints, as JSON; it may have been ended by its time limit."""
    ended = subprocess.run([sys.executable, "-m", module, *arguments], stdout=subprocess.PIPE, text=True)
    if ended.returncode not in (0, StoppedEarly.exit_code):
        ended.check_returncode()
    return json.loads(ended.stdout)


def _graph(folder: Path, log2: int) -> Path:
    """The store of 2^log2 vertices, made if it is not there."""
    path = folder / f"levels-{log2}.zarr"
    if not path.exists():
        subprocess.run([sys.executable, "-m", "emdiam", "generate", "levels", str(path), "--vertices", f"2^{log2}",
                        "--edges", f"2^{log2 + 1}", *_LEVELS], check=True, stdout=subprocess.DEVNULL)
    return path


def measure(folder: Path, sizes: Sequence[int], rounds: int) -> list[dict[str, Any]]:
    """A row a subject. sizes : log2 of vertices. rounds : processes for each figure."""
    rows = []
    for subject in SUBJECTS:
        row: dict[str, Any] = {"what": subject}
        for log2 in (_BASE, *sizes):
            path = _graph(folder, log2)
            _measured(subject, path)
            told = [_measured(subject, path) for _ in range(rounds)]
            row[f"2^{log2}"] = {key: [one[key] for one in told] for key in told[0]}
        base = min(row[f"2^{_BASE}"]["peak_bytes"])
        for log2 in sizes:
            cell = row[f"2^{log2}"]
            cell["bytes_a_vertex"] = bytes_a_vertex(cell["peak_bytes"], base, log2)
            print(f"{subject}, 2^{log2}: {cell['bytes_a_vertex']}", file=sys.stderr, flush=True)
        rows.append(row)
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and keep the figures; or be one of the processes."""
    made = argparse.ArgumentParser(prog=f"python -m {_MODULE}", description=__doc__)
    made.add_argument("store", type=Path, nargs="?", help=argparse.SUPPRESS)
    made.add_argument("--once", choices=("reached", "distances"), help=argparse.SUPPRESS)
    made.add_argument("--out", type=Path, metavar="FILE.json", help="where the figures are kept")
    made.add_argument("--work", type=Path, metavar="DIR", default=_HERE / ".cache" / "memory",
                      help="folder for the stores (default: bench/.cache/memory)")
    made.add_argument("--log2", type=int, action="append", metavar="K", default=[],
                      help="graphs of 2^K vertices (default: 24 and 26)")
    made.add_argument("--rounds", type=int, metavar="N", default=3, help="processes for each figure (default: 3)")
    given = made.parse_args(arguments)
    if given.store is not None:
        print(json.dumps(once(given.store, given.once == "distances")))
        return 0
    given.work.mkdir(parents=True, exist_ok=True)
    kept = {"machine": facts(), "what": __doc__, "rows": measure(given.work, given.log2 or [24, 26], given.rounds)}
    text = json.dumps(kept, indent=1) + "\n"
    if given.out is not None:
        given.out.write_text(text, encoding="utf-8")
    print(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
