"""A stand-in for the command line: starts at once, behaves as a file says, and tells if it runs twice.

$BATCH_TOLD is a folder. behaviour.json there: by the file name of a job's store, {"sleep", "wait_for" (a file there),
"code", "err", "answer", "deaf", "refuse_resume"}. starts.jsonl there: a line when one starts and when one ends.
As a module of its own, `python -m tests.helpers.batch_program batch ...` is `emdiam batch` with this as its jobs.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import TextIO


def main(words: list[str]) -> None:
    """Behave as a command of emdiam."""
    if words[0] == "batch":
        run_batch(words)
    told = Path(os.environ["BATCH_TOLD"])
    options = dict(word[2:].partition("=")[::2] for word in words if word.startswith("--"))
    names = [word for word in words[1:] if not word.startswith("--")]
    store = Path(names[-1])
    behaviour = json.loads((told / "behaviour.json").read_text()).get(store.name, {})
    signal.signal(signal.SIGTERM, signal.SIG_IGN if behaviour.get("deaf") else signal.default_int_handler)
    if behaviour.get("deaf"):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    with open(told / f"{store.name}.{words[0]}.lock", "w") as lock:
        try:
            note(told, store, words, "start")
            if not alone(lock):
                note(told, store, words, "twice")
            (told / f"{store.name}.{words[0]}.started").touch()  # what another can wait for: its line is written
            work(words, options, store, behaviour)
        except KeyboardInterrupt:
            note(told, store, words, "end")
            print("emdiam: stopped by the user", file=sys.stderr)
            print(json.dumps({"lower": 1, "upper": 9}))
            sys.exit(3)
        note(told, store, words, "end")
    if "err" in behaviour:
        print("reading: started\nemdiam: " + behaviour["err"], file=sys.stderr)
    if behaviour.get("code", 0) in (0, 3):
        print(json.dumps(behaviour.get("answer", {"lower": 7, "upper": 7, "connected": True})))
    if behaviour.get("code", 0) < 0:
        os.kill(os.getpid(), -behaviour["code"])
    sys.exit(behaviour.get("code", 0))


def alone(lock: TextIO) -> bool:
    """Whether no other one has the lock."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def work(words: list[str], options: dict[str, str], store: Path, behaviour: dict) -> None:
    """What a command would do, in the same order: the checkpoint first, the store in one moment at the end."""
    if "checkpoint" in options:
        if "resume" in options and behaviour.get("refuse_resume"):
            print("emdiam: this checkpoint is of another run", file=sys.stderr)
            sys.exit(2)
        folder = Path(options["checkpoint"])
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "state").write_text("somewhere")
    time.sleep(behaviour.get("sleep", 0.0))
    while "wait_for" in behaviour and not (Path(os.environ["BATCH_TOLD"]) / behaviour["wait_for"]).exists():
        time.sleep(0.01)
    if words[0] in ("generate", "convert"):
        if store.exists() and "force" not in options:
            print(f"emdiam: {store}: exists already", file=sys.stderr)
            sys.exit(2)
        store.write_text("a store\n")
    elif not store.exists():
        print(f"emdiam: {store}: there is no such store", file=sys.stderr)
        sys.exit(2)


def note(told: Path, store: Path, words: list[str], what: str) -> None:
    """Add a line, whole."""
    line = json.dumps({"store": store.name, "what": what, "pid": os.getpid(), "words": words, "at": time.monotonic()})
    with open(told / "starts.jsonl", "a") as file:
        file.write(line + "\n")


def run_batch(words: list[str]) -> None:
    """Be `emdiam batch`, with jobs that are this program."""
    from emdiam.batch import attempt
    from emdiam.cli.main import main as emdiam_main

    attempt.PROGRAM = (sys.executable, "-S", __file__)
    emdiam_main(words)


if __name__ == "__main__":
    main(sys.argv[1:])
