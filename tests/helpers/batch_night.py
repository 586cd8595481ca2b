"""A folder with a file of jobs, whose jobs are a quick stand-in for the command line."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from emdiam.batch import Batch, BatchOptions, batch
from emdiam.batch.attempt import NAME, read_results
from emdiam.cli.main import group
from emdiam.progress import Event
from tests.conftest import ROOT
from tests.helpers.waiting import wait_until

PROGRAM = ROOT / "tests" / "helpers" / "batch_program.py"


def printed(out: str) -> dict[str, Any]:
    """What a batch has printed with --json: its last line, and the lines before it, of jobs, as "jobs"."""
    *jobs, batch = map(json.loads, out.splitlines())
    return {"jobs": jobs, **batch}


def make_night(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Night:
    """A folder whose batches run the stand-in, until the monkey patches are undone."""
    monkeypatch.setattr("emdiam.batch.attempt.PROGRAM", (sys.executable, "-S", str(PROGRAM)))
    monkeypatch.setenv("BATCH_TOLD", str(folder))
    return Night(folder)


class Night:
    """A folder with a jobs file and the behaviour of its jobs."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.out = folder, folder / "jobs.out"
        self.file = folder / "jobs.toml"
        self.behave()

    def behave(self, **stores: dict[str, Any]) -> None:
        """By the name of a store: behaviour as in batch_program."""
        (self.folder / "behaviour.json").write_text(json.dumps(stores))

    def write(self, *jobs: str, head: str = "") -> None:
        """The file: NAME makes the store NAME; NAME:STORE is an exact run on a store."""
        text = head
        for job in jobs:
            name, _, store = job.partition(":")
            made = f'command = "generate"\nclass = "path"\nstore = "{name}"\noptions = {{vertices = 5}}\n'
            text += f'[[job]]\nname = "{name}"\n' + (f'command = "exact"\nstore = "{store}"\n' if store else made)
        self.file.write_text(text)

    def run(self, commands: click.Group = group, progress: Callable[[Event], None] | None = None,
            **options: Any) -> Batch:
        """Run it in this process."""
        return batch(self.file, commands, BatchOptions(**options), progress)

    def start(self, *options: str) -> subprocess.Popen[str]:
        """Run it in a process of its own."""
        return subprocess.Popen([sys.executable, "-m", "tests.helpers.batch_program", "batch", str(self.file), "--json",
                                 *options], cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def wait_for_starts(self, process: subprocess.Popen[str], *stores: str) -> None:
        """Until the jobs that have started are those that make these stores, in any order."""
        wait_until(lambda: process.poll() is not None or sorted(self.starts()) == sorted(stores))
        assert process.poll() is None, process.communicate()

    def starts(self, what: str = "start") -> list[str]:
        """Stores of jobs that started (or ended, or ran twice at once), in order."""
        return [line["store"] for line in self.lines() if line["what"] == what]

    def lines(self) -> list[dict[str, Any]]:
        """What the jobs have told."""
        path = self.folder / "starts.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def statuses(self) -> dict[str, str]:
        """As results.jsonl has them."""
        return {name: record.status for name, record in read_results(self.out / NAME)[0].items()}
