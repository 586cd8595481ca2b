"""`emdiam batch`: many jobs from one file."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from . import options
from .listener import answered
from .outcome import EmdiamCommand
from .output import answer, emit

if TYPE_CHECKING:
    from ..batch.attempt import AttemptRecord


@click.command(cls=EmdiamCommand)
@click.argument("jobs", type=click.Path(dir_okay=False, path_type=str), metavar="JOBS.toml")
@options.of("batch")
def command(**values: Any) -> int:
    """Run many jobs from one file.

    Jobs are conversions, diameters, approximations and so on. The whole file is checked before the first job starts.
    Each job is a separate process; a failed job does not stop the others. The same command continues a stopped batch.
    Relative paths in the file start at its folder. An example with two jobs; the second one waits for the store of the
    first:

    \b
        [[job]]
        name = "cities-store"
        command = "convert"
        inputs = ["cities.csv"]
        store = "${OUT}/cities.zarr"
        [[job]]
        name = "cities"
        command = "exact"
        store = "${OUT}/cities.zarr"
        options = { threads = 2 }

    Keys of a job are the arguments of its command, options its options, and ${OUT} the folder of the batch.

    Exit code 0: all jobs are done. 2: the file is not valid, or a job failed. 3: the batch or a job was stopped early.
    """
    from ..batch import BatchOptions, prepare, summary_text
    from ..batch import batch as run_batch
    from ..batch.prepare import jobs_data, jobs_text
    from .main import group

    chosen = BatchOptions(*(values[name] for name in ("memory", "parallel", "out", "keep_going", "retry")))
    if values["dry_run"]:
        prepared = prepare(values["jobs"], group, chosen)
        answer(jobs_data(prepared), lambda _: jobs_text(prepared), values["as_json"])
        return 0

    def line(record: AttemptRecord) -> None:
        emit(json.dumps(asdict(record), allow_nan=False))

    shown = line if values["as_json"] else None
    return int(answered(values, lambda listener: run_batch(values["jobs"], group, chosen, listener, shown),
                        summary_text, "NightView").exit_code)


def check_task(name: str, *words: str) -> None:
    """Make the task of a command line, without running it. Raises InputError for options that do not go together."""
    from .main import group

    command = group.get_command(click.Context(group), name)
    assert command is not None
    with command.make_context(name, list(words)) as context:
        asked = options.of_task(name, context.params)
        asked.pop("masters", None)  # perhaps of several runs
        options.task_given(name, asked, None)
