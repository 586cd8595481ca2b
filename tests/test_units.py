"""Sizes, counts and durations as people write them; the default memory respects cgroups."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from emdiam import units
from emdiam.errors import InputError


@pytest.mark.parametrize(
    ("text", "size"),
    [("4GiB", 4 << 30), ("512MB", 512_000_000), ("768mib", 768 << 20), ("1.5k", 1500), ("100", 100), (7, 7),
     ("2 TiB", 2 << 40), ("3b", 3)],
)
def test_parse_size(text: str | int, size: int) -> None:
    assert units.parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GiB", "4 iB", "-4MiB", "0", "4XB", "1e9", 0,
                                  "99999999999TiB", "9" * 400, "1048577TiB", (1 << 60) + 1])
def test_bad_sizes(text: str | int) -> None:
    with pytest.raises(InputError):
        units.parse_size(text)


@pytest.mark.parametrize(("text", "count"), [("2^20", 1 << 20), ("2**3", 8), ("1e6", 10**6), ("12", 12), (5, 5)])
def test_parse_count(text: str | int, count: int) -> None:
    assert units.parse_count(text) == count


@pytest.mark.parametrize("text", ["", "x", "1.5", "2^999", "inf", "nan", "9" * 5000 + "^2", "2^" + "9" * 5000])
def test_bad_counts(text: str) -> None:
    with pytest.raises(InputError):
        units.parse_count(text)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("10s", 10), ("5min", 300), ("8h", 28800), ("1.5 H", 5400), (" 2 d ", 172800), ("250ms", 0.25),
     (7, 7), (0.5, 0.5)],
)
def test_parse_duration(text: str | float, seconds: float) -> None:
    assert units.parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "min", "5 m", "-4s", "0", "0s", "1e3", "2 weeks", 0, -1, float("inf")])
def test_bad_durations(text: str | float) -> None:
    with pytest.raises(InputError):
        units.parse_duration(text)


def test_format_size() -> None:
    assert [units.format_size(x) for x in (0, 1536, 5 << 20, 3 << 30, 1 << 40)] == [
        "0 B", "1.5 KiB", "5.0 MiB", "3.0 GiB", "1.0 TiB"]


def test_peak_is_at_least_current() -> None:
    current = units.current_rss_bytes()  # first: the next line may take a page more
    assert units.peak_rss_bytes() >= current > 1 << 20


@pytest.mark.usefixtures("whole_resident_set")
def test_memory_is_what_psutil_reads() -> None:
    """The resident set, but for what the reading itself takes; what is available, on a machine where others work."""
    assert abs(psutil.Process().memory_info().rss - units.current_rss_bytes()) < 4 << 20
    assert 0 < units._available_bytes() <= psutil.virtual_memory().total


@pytest.mark.parametrize(("lines", "available"), [
    ("MemTotal: 4000 kB\nMemFree: 1000 kB\nMemAvailable: 3000 kB\n", 3000 << 10),
    ("MemTotal: 4000 kB\nMemFree: 1000 kB\nMemAvailable: 90000 kB\n", 4000 << 10),  # of the machine around it
    ("MemTotal: 4000 kB\nMemFree: 1000 kB\nHugePages_Total: 0\n", 1000 << 10),
])
def test_available_memory(monkeypatch: pytest.MonkeyPatch, lines: str, available: int) -> None:
    monkeypatch.setattr(units, "system_text", {"/proc/meminfo": lines}.__getitem__)
    assert units._available_bytes() == available


@pytest.mark.parametrize("layout", ["v2", "v1"])
def test_default_memory_respects_the_cgroup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: str
) -> None:
    """The smallest limit on the way to the root counts."""
    root = tmp_path / "cgroup"
    folder = root / ("memory/" if layout == "v1" else "") / "outer" / "inner"
    folder.mkdir(parents=True)
    name = "memory.limit_in_bytes" if layout == "v1" else "memory.max"
    (folder / name).write_text("max\n" if layout == "v2" else "9223372036854771712\n")
    (folder.parent / name).write_text("1000000000\n")
    line = "5:memory:/outer/inner\n" if layout == "v1" else "0::/outer/inner\n"
    (tmp_path / "self").write_text("3:cpu:/x\n" + line)
    real = units.system_text

    def redirected(path: str) -> str:
        text = str(tmp_path / "self") if path == "/proc/self/cgroup" else path
        return real(text.replace("/sys/fs/cgroup", str(root)))

    monkeypatch.setattr(units, "system_text", redirected)
    assert units.default_memory_bytes() == 900_000_000


@pytest.mark.parametrize(("seconds", "text"), [
    (0.0, "0 s"), (0.001, "<0.01 s"), (0.25, "0.25 s"), (9.4, "9.4 s"), (59.4, "59 s"), (61, "1 min 01 s"),
    (7800, "2 h 10 min"),
])
def test_durations_are_written_for_people(seconds: float, text: str) -> None:
    assert units.format_seconds(seconds) == text
