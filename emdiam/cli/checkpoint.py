"""Shared code of long commands: options of checkpoints, runs whose results are always printed, however they end, and
the writing of a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ..checkpoint.options import CheckpointOptions, chosen_checkpoint
from ..errors import NotWritten, StoppedEarly
from ..progress import Listener
from . import options
from .inputs import stored
from .listener import listening
from .outcome import Interrupted
from .output import answer


def answered_writing(values: Mapping[str, Any], target: str, make: Callable[[Listener], Any],
                     text: Callable[..., str]) -> int:
    """Write the store `target` with `make`, print its report and return the exit code. text : lines from a report, the
    store, and whether they are verbose. Ctrl-C becomes an error that names the saved work, if any."""
    try:
        with listening(values) as listener:
            report = make(listener)
    except KeyboardInterrupt as stop:
        sentence, chosen = f"stopped by the user; {target} was not written", chosen_checkpoint(values)
        folder = None if chosen is None else chosen.folder_for(Path(target))
        if folder is None or not folder.exists():
            raise Interrupted(sentence) from stop
        raise StoppedEarly(f"{sentence}; the work so far is saved in {folder}: give the same command with --resume to"
                           " go on") from stop
    answer(report.to_dict(), lambda data: text(data, target, values["verbose"]), values["as_json"])
    return 0


@contextmanager
def running(command: str, values: Mapping[str, Any], text: Callable[..., str]
            ) -> Iterator[tuple[Callable[[], Any], Callable[[Any], None]]]:
    """A context for a command of one run, on a store or a file. Yields a function that executes its task, and a
    function that takes the result, which is printed however the run ends. text : lines from a result, and whether they
    are verbose."""
    runs, show = Runs(values), partial(text, verbose=values["verbose"])
    asked = options.of_task(command, values)
    task = options.task_given(command, options.with_device(asked), runs.checkpoint(0))
    with (runs.shown(lambda results: answer(results[0], show, values["as_json"])), listening(values) as listener,
          stored(command, values, listener, task.cluster is None) as (store, finish)):
        yield partial(finish, store, task, listener), runs.end


class Runs:
    """The runs of one command. Their checkpoints remain until the answer has been printed: if the command is killed
    just before, the next one resumes from them and answers at once.

    values : options of the command. several : whether each run has its own subfolder of the checkpoint folder.
    results : so far, as dicts.
    """

    def __init__(self, values: Mapping[str, Any], several: bool = False) -> None:
        self._chosen, self._several = chosen_checkpoint(values), several
        self.results: list[dict[str, Any]] = []

    def checkpoint(self, number: int) -> CheckpointOptions | None:
        """The checkpoint of run `number`, from 0."""
        if self._chosen is None:
            return None
        folder = self._chosen.folder
        if self._several and folder is not None:
            folder = folder / f"run-{number + 1}"
        return replace(self._chosen, folder=folder, keep=True)

    @contextmanager
    def shown(self, show: Callable[[list[dict[str, Any]]], None]) -> Iterator[None]:
        """A context for runs, which end with a call of `end`. At its end, or when a run is stopped or fails, show the
        results so far, with that of the stopped run: they have been paid for."""
        try:
            yield
        except (StoppedEarly, NotWritten) as stop:
            if stop.result is not None:
                self.end(stop.result)
            raise
        except KeyboardInterrupt as stop:
            raise StoppedEarly("stopped by the user before there was an answer") from stop
        finally:
            if self.results:
                show(self.results)
        if self._chosen is not None and not self._chosen.keep:
            self._remove_checkpoints(self._chosen.folder)

    def end(self, result: Any) -> None:
        """Add the Result of a run."""
        self.results.append(result.to_dict())

    def _remove_checkpoints(self, folder: Path | None) -> None:
        from ..checkpoint.folder import remove_checkpoint

        for result in self.results:
            remove_checkpoint(Path(result["details"]["checkpoint"]["folder"]))
        if self._several and folder is not None and not any(folder.iterdir()):
            folder.rmdir()
