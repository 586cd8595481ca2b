"""Commands as copies of one process that has imported the libraries already. So the examples of the documents, over 200
commands and blocks of Python, take 40 seconds of a processor, not 105.

`python -m tests.helpers.copies SOCKET` listens there until its standard input ends. Each copy is a process of its own,
with the folder, the environment and the streams of its caller, and its exit code goes back.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

from emdiam.cli.main import COMMANDS

# What several examples import, or the package for them.
_IMPORTED = (
    "emdiam.api", "emdiam.conversion.convert", "emdiam.conversion.reorder", "emdiam.generators.make",
    "emdiam.certificates.run", "emdiam.engine.cpu", "emdiam.paths.methods", "emdiam.progress_view", "emdiam.runs.hops",
    "emdiam.runs.opening", "emdiam.runs.plan", "emdiam.store.writer", "emdiam.traverse.bfs", "emdiam.kernel_objects",
    "llvmlite.binding", "matplotlib.pyplot", "networkx", "pandas", "pyarrow.csv", "pyarrow.parquet", "tabulate", "zarr",
    *(f"emdiam.cli.{name}" for name in COMMANDS))
_LONGEST_REQUEST = 1 << 17
_CALLER = """#!{python} -IS
import json, os, socket, sys
to = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
to.connect({address!r})
asked = [{name!r}, sys.argv[1:], os.getcwd(), dict(os.environ)]
socket.send_fds(to, [json.dumps(asked).encode()], [0, 1, 2])
answer = to.recv(16)
sys.exit(int(answer) if answer else "the copy has sent no exit code")
"""


@contextmanager
def programs() -> Iterator[Path]:
    """A folder for PATH with `emdiam` and `python`, each run of which is a copy."""
    with TemporaryDirectory(prefix="emdiam-") as folder:  # short: the name of a socket has at most 107 letters
        address = f"{folder}/socket"
        for name in ("emdiam", "python"):
            path = Path(folder, name)
            path.write_text(_CALLER.format(python=sys.executable, address=address, name=name))
            path.chmod(0o755)
        with subprocess.Popen([sys.executable, "-m", "tests.helpers.copies", address], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]) as process:
            assert process.stdin is not None and process.stdout is not None
            try:
                assert process.stdout.readline() == "listening\n"
                yield Path(folder)
            finally:
                process.stdin.close()


def listen(address: str) -> None:
    """Make a copy for each caller until standard input ends."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command does, so that no thread is lost in a copy
    for name in _IMPORTED:
        import_module(name)
    gc.freeze()  # no copy looks through what they have made
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(address)
        listener.listen()
        print("listening", flush=True)
        asking: dict[int, tuple[int, socket.socket]] = {}  # by what says that a copy has ended: its process, its caller
        while True:
            ready, _, _ = select.select([listener, sys.stdin, *asking], [], [])
            if sys.stdin in ready:
                return
            for ended in asking.keys() & set(ready):
                process, caller = asking.pop(ended)
                code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
                caller.send(str(code if code >= 0 else 128 - code).encode())  # of a signal as a shell has it
                caller.close()
                os.close(ended)
            if listener in ready:
                caller, _ = listener.accept()
                process = _copy(caller)
                asking[os.pidfd_open(process)] = (process, caller)


def _copy(caller: socket.socket) -> int:
    """The process of a copy that does what a caller asks."""
    message, streams, _, _ = socket.recv_fds(caller, _LONGEST_REQUEST, 3)
    process = os.fork()
    if process == 0:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.closerange(3, 1 << 10)
        _become(*json.loads(message))
    for stream in streams:
        os.close(stream)
    return process


def _become(name: str, arguments: list[str], folder: str, environment: dict[str, str]) -> None:
    """Be `name` with these arguments; ends the process."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [name, *arguments]
    code: object = 0
    try:
        if name == "emdiam":
            runpy.run_module("emdiam", run_name="__main__", alter_sys=True)
        else:
            option, text = arguments
            assert option == "-c", arguments
            sys.modules["__main__"] = module = ModuleType("__main__")
            exec(compile(text, "<string>", "exec"), module.__dict__)
            module.__dict__.clear()  # files that it has not closed are written, as at the end of any process
    except SystemExit as end:
        code = end.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    with suppress(ImportError):
        import_module("threading")._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    listen(sys.argv[1])
