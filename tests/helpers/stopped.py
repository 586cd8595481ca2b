"""A stop at every place of a piece of code where Python runs the handlers of signals."""

from __future__ import annotations

import dis
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from types import CodeType, FrameType
from typing import Any

from emdiam.cli.process import STOPPING, stop_asked, stopping_on_signals

# Python looks for signals after these.
_LOOKING = ("RESUME", "JUMP_BACKWARD", "CALL", "CALL_FUNCTION_EX", "CALL_KW")


@dataclass
class Place:
    """Where a stop came, and whether KeyboardInterrupt was raised by it."""

    number: int
    function: str = ""
    line: int = 0
    interrupted: bool = False


def stopped_everywhere(body: Callable[[], Any]) -> Iterator[Place]:
    """Run body() under stopping_on_signals again and again, and stop it at one place later each time, until it has no
    more places. Every time the handlers of signals have to be as before, and nothing but KeyboardInterrupt may come."""
    handlers = [signal.getsignal(number) for number in range(1, signal.NSIG)]
    hook, number = sys.unraisablehook, 0
    while True:
        number += 1
        place = _stopped_at(number, body)
        if not place.function:
            return
        assert [signal.getsignal(one) for one in range(1, signal.NSIG)] == handlers, place
        assert sys.unraisablehook is hook and not stop_asked(), place
        yield place


def _stopped_at(number: int, body: Callable[[], Any]) -> Place:
    """SIGTERM at a place of the main thread, which counts from 1; the handler is called as Python would do it, since a
    signal that is sent at such a moment may be met at another one."""
    place, seen = Place(number), 0
    last: dict[FrameType, str] = {}

    def trace(frame: FrameType, event: str, _value: Any) -> Callable[..., Any]:
        nonlocal seen
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            before, last[frame] = last.get(frame), _names(frame.f_code).get(frame.f_lasti, "")
            seen += before in _LOOKING
            if seen == number:
                sys.settrace(None)
                place.function, place.line = frame.f_code.co_name, frame.f_lineno
                _stop(frame)
        elif event == "return":
            last.pop(frame, None)
        return trace

    try:
        sys.settrace(trace)
        with stopping_on_signals():
            body()
    except KeyboardInterrupt:
        place.interrupted = True
    finally:
        sys.settrace(None)
    return place


def _stop(frame: FrameType) -> None:
    """What a SIGTERM does that Python meets in `frame`."""
    pipe = signal.set_wakeup_fd(-1)
    if pipe >= 0:
        signal.set_wakeup_fd(pipe, warn_on_full_buffer=False)
        os.write(pipe, bytes([signal.SIGTERM]))
    handler = signal.getsignal(STOPPING[1])
    if callable(handler):
        handler(signal.SIGTERM, frame)


@cache
def _names(code: CodeType) -> dict[int, str]:
    return {one.offset: one.opname for one in dis.get_instructions(code)}
