"""Hosts on one machine: network namespaces with an address each, joined by a bridge."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

NETWORK = "10.231.77"


def _ip(*args: str) -> None:
    subprocess.run(["ip", *args], check=True, capture_output=True, text=True)


def why_not() -> str | None:
    """Why there can be no namespaces here; None if there can."""
    if shutil.which("ip") is None:
        return "there is no ip command"
    try:
        with hosts(1):
            return None
    except subprocess.CalledProcessError as error:
        return f"network namespaces are not permitted ({error.stderr.strip()})"


@contextmanager
def hosts(count: int) -> Iterator[list[tuple[str, str]]]:
    """(namespace, address) of so many hosts, which reach each other and nothing else. Raises CalledProcessError."""
    tag = f"em{os.getpid() % 100_000}"
    with ExitStack() as stack:
        def undo(*args: str) -> None:
            stack.callback(subprocess.run, ["ip", *args], capture_output=True)

        _ip("link", "add", f"{tag}br", "type", "bridge")
        undo("link", "del", f"{tag}br")
        _ip("link", "set", f"{tag}br", "up")
        found = []
        for i in range(count):
            name, near, far = f"{tag}n{i}", f"{tag}a{i}", f"{tag}b{i}"
            _ip("netns", "add", name)
            undo("netns", "del", name)
            _ip("link", "add", near, "type", "veth", "peer", "name", far)
            undo("link", "del", near)
            _ip("link", "set", far, "netns", name)
            _ip("link", "set", near, "master", f"{tag}br", "up")
            _ip("-n", name, "addr", "add", f"{NETWORK}.{i + 1}/24", "dev", far)
            _ip("-n", name, "link", "set", far, "up")
            _ip("-n", name, "link", "set", "lo", "up")
            found.append((name, f"{NETWORK}.{i + 1}"))
        yield found


def within(namespace: str, command: list[str]) -> list[str]:
    """The command line that runs `command` in a namespace."""
    return ["ip", "netns", "exec", namespace, *command]
