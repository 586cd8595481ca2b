"""What commands that work for long share: options of checkpoints, runs whose results are printed whatever ends them,
and the writing of a store."""

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
from ..runs.options import KEPT, PATHS
from . import options
from .inputs import stored
from .listener import listening
from .outcome import Interrupted
from .output import answer


def answered_writing(given: Mapping[str, Any], target: str, make: Callable[[Listener], Any],
                     text: Callable[..., str]) -> int:
    """Write the store `target` and print the report that `make` gives of it. text : makes lines of a report, of the
    store, and of whether they are verbose. The exit code. Ctrl-C becomes an error that says what is left."""
    try:
        with listening(given) as listener:
            report = make(listener)
    except KeyboardInterrupt as stop:
        sentence, chosen = f"stopped by the user; {target} was not written", chosen_checkpoint(given)
        folder = None if chosen is None else chosen.folder_for(Path(target))
        if folder is None or not folder.exists():
            raise Interrupted(sentence) from stop
        raise StoppedEarly(f"{sentence}; the work so far is saved in {folder}: give the same command with --resume to"
                           " go on") from stop
    answer(report.to_dict(), lambda data: text(data, target, given["verbose"]), given["as_json"])
    return 0


@contextmanager
def running(command: str, given: Mapping[str, Any], text: Callable[..., str]
            ) -> Iterator[tuple[Callable[[], Any], Callable[[Any], None]]]:
    """What executes the task of a command that makes one run, on its store or the file in place of one, and what takes
    its result: that is printed whatever ends the run. text : makes lines of a result, and of whether they are
    verbose."""
    runs, show = Runs(given), partial(text, verbose=given["verbose"])
    own = {name: value for name, value in given.items() if command not in PATHS or name not in KEPT}
    task = options.task_given(command, options.with_device(own), runs.checkpoint(0))
    with (runs.shown(lambda results: answer(results[0], show, given["as_json"])), listening(given) as listener,
          stored(command, given, listener, task.cluster is None) as (store, finish)):
        yield partial(finish, store, task, listener), runs.end


class Runs:
    """The runs of one command, with what it was given. Their checkpoints stay until the answer has been printed: a
    command that is killed just before goes on from them and answers at once.

    several : each run has a folder of its own in that which was given. results : so far, as dicts.
    """

    def __init__(self, given: Mapping[str, Any], several: bool = False) -> None:
        self._chosen, self._several = chosen_checkpoint(given), several
        self.results: list[dict[str, Any]] = []

    def checkpoint(self, number: int) -> CheckpointOptions | None:
        """That of run `number`, from 0 on."""
        if self._chosen is None:
            return None
        folder = self._chosen.folder
        if self._several and folder is not None:
            folder = folder / f"run-{number + 1}"
        return replace(self._chosen, folder=folder, keep=True)

    @contextmanager
    def shown(self, show: Callable[[list[dict[str, Any]]], None]) -> Iterator[None]:
        """Runs in this block end by calling `end`; then, or when one is stopped or at fault, the results so far, that
        of the one that was stopped included, are shown: they have been paid for."""
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
        """A run has ended with this Result."""
        self.results.append(result.to_dict())

    def _remove_checkpoints(self, folder: Path | None) -> None:
        from ..checkpoint.folder import remove_checkpoint

        for result in self.results:
            remove_checkpoint(Path(result["details"]["checkpoint"]["folder"]))
        if self._several and folder is not None and not any(folder.iterdir()):
            folder.rmdir()
