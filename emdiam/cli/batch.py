"""`emdiam batch`: many jobs from one file."""

from __future__ import annotations

from typing import Any

import click

from . import options
from .listener import answered
from .outcome import EmdiamCommand
from .output import answer


@click.command(cls=EmdiamCommand)
@click.argument("jobs", type=click.Path(dir_okay=False, path_type=str), metavar="JOBS.toml")
@click.option("--out", type=options.NEW_FOLDER, metavar="DIR",
              help="Folder for results, logs and checkpoints. [default: as the file says, else JOBS.out beside it]")
@click.option("--memory", type=options.SIZE, metavar="SIZE",
              help="Memory of all jobs that run at the same time. [default: as the file says]")
@click.option("--parallel", type=options.AT_LEAST_1, metavar="N",
              help="Jobs at the same time, as far as memory allows. [default: as the file says, else 1]")
@click.option("--keep-going", is_flag=True, help="Run the other jobs where some have a fault in the file.")
@click.option("--retry", is_flag=True, help="Run again the jobs that failed or met their time limit.")
@click.option("--dry-run", is_flag=True, help="Check the file and show the jobs, without running one.")
@options.stacked(options.as_json, options.progress)
def command(**given: Any) -> int:
    """Run many jobs from one file.

    Jobs are conversions, diameters, approximations and so on. The whole file is checked before the first job starts.
    Each job is a process of its own; one that fails does not stop the others. The same command goes on where it was
    stopped.
    Relative paths in the file count from its folder.

    Exit code 0: all jobs are done. 2: the file is not valid, or a job failed. 3: the batch or a job was stopped early.
    """
    from ..batch import BatchOptions, prepare, summary_text
    from ..batch import batch as run_batch
    from ..batch.summary import jobs_data, jobs_text
    from .main import group

    chosen = BatchOptions(*(given[name] for name in ("memory", "parallel", "out", "keep_going", "retry")))
    if given["dry_run"]:
        prepared = prepare(given["jobs"], group, chosen)
        answer(jobs_data(prepared), lambda _: jobs_text(prepared), given["as_json"])
        return 0
    return int(answered(given, lambda listener: run_batch(given["jobs"], group, chosen, listener),
                        summary_text).exit_code)
