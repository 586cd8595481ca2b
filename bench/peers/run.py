"""Running a peer in a child process, with a time limit."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..rounds import Effort
from ..setting import Setting

ROOT = Path(__file__).resolve().parents[2]


def installed(library: str) -> bool:
    """Whether the library can be imported here."""
    return importlib.util.find_spec(library) is not None


def child_command(library: str, task: str, store: Path, seconds: float, effort: Effort,
                  sources: Sequence[int] = ()) -> list[str]:
    """The command of a child that measures a library; its folder is ROOT."""
    return [sys.executable, "-m", "bench.peers.child", library, task, str(store.resolve()),
            "--sources", json.dumps(list(sources)), "--seconds", str(seconds), "--effort", json.dumps(asdict(effort))]


def run_peer(
    library: str, task: str, store: Path, setting: Setting, sources: Sequence[int] = ()
) -> dict[str, Any]:
    """The timing of a peer as a dict (rounds.Timing, with load_seconds and, for a diameter
    and eccentricities, value), or {"failure": why} if it hit the time limit, would do so by far, or failed."""
    command = child_command(library, task, store, setting.peer_seconds, setting.effort, sources)
    threads = {"OMP_NUM_THREADS": str(setting.threads)}
    try:
        done = subprocess.run(command, cwd=ROOT, env={**os.environ, **threads}, text=True,
                              capture_output=True, timeout=setting.peer_seconds, check=False)
    except subprocess.TimeoutExpired:
        return {"failure": f"> {setting.peer_seconds:.0f} s"}
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {"failure": f"failed ({done.returncode})", "message": last[-200:]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
