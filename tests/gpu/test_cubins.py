"""Kernels compiled before a run: which cubin a device loads, and when NVRTC compiles after all."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from bench.gpu import counts
from emdiam.gpu import cupy_device, source
from emdiam.gpu.source import ARCHITECTURES, OPTIONS, cubin_path, define_options, find_cubin, kernel_source
from tests.gpu.test_compile import needs_nvcc
from tests.gpu.test_failures import CUDADriverError, failing, fake_cupy
from tests.helpers.stores import odd_graphs, write_store
from tests.simt.nvrtc import SECTION
from tests.simt.shim_device import ShimDevice
from tests.test_docs import script

FILE, ENTRY, MACROS = "bfs_whole.cu", "whole_search", {"VERTEX": "u32", "INDEX": "u32"}
SOURCE, BUILT = kernel_source(FILE), define_options(MACROS)


def put(folder: Path, architecture: int, source: str = SOURCE, options: tuple[str, ...] = BUILT) -> Path:
    """An empty file where a cubin would be."""
    path = cubin_path(folder, architecture, source, options)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def test_a_device_takes_cubins_of_its_major_version(tmp_path: Path) -> None:
    of = {architecture: put(tmp_path, architecture) for architecture in ARCHITECTURES}
    found = {capability: find_cubin(capability, SOURCE, BUILT, tmp_path)
             for capability in ((7, 5), (8, 0), (8, 9), (9, 0), (10, 0), (10, 3), (11, 0), (12, 0))}
    assert found == {(7, 5): None, (8, 0): of[80], (8, 9): of[80], (9, 0): of[90], (10, 0): of[100], (10, 3): of[100],
                     (11, 0): None, (12, 0): None}
    assert find_cubin((9, 0), SOURCE, BUILT, tmp_path / "nothing") is None


def test_a_cubin_of_another_text_is_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, 90)
    assert find_cubin((9, 0), SOURCE, BUILT, tmp_path) is not None
    assert find_cubin((9, 0), SOURCE + " ", BUILT, tmp_path) is None
    assert find_cubin((9, 0), SOURCE, (*BUILT, "-DWORDS=1"), tmp_path) is None
    monkeypatch.setattr(source, "NVCC_OPTIONS", (*source.NVCC_OPTIONS, "-G"))
    assert find_cubin((9, 0), SOURCE, BUILT, tmp_path) is None


def loaded(monkeypatch: pytest.MonkeyPatch, folder: Path, capability: tuple[int, int], broken: bool = False,
           ) -> list[tuple[str, Any]]:
    """What a device of that capability makes modules of when it is asked for a kernel twice: paths and options."""
    asked: list[tuple[str, Any]] = []
    found = SimpleNamespace(get_function=lambda entry: SimpleNamespace(kernel=None))
    refused = SimpleNamespace(get_function=failing(CUDADriverError("CUDA_ERROR_INVALID_IMAGE: cut short")))

    def module(code: str = "", options: Any = None, path: str = "") -> Any:
        assert bool(path) != bool(code) and code in ("", SOURCE)
        asked.append(("cubin", Path(path)) if path else ("nvrtc", options))
        return refused if path and broken else found

    facts = {"name": b"Card", "multiProcessorCount": 132, "maxThreadsPerBlock": 1024, "warpSize": 32,
             "major": capability[0], "minor": capability[1]}
    fake: ModuleType = fake_cupy(module=module, properties=lambda number: facts)
    monkeypatch.setitem(sys.modules, "cupy", fake)
    monkeypatch.setattr(cupy_device, "find_cubin", partial(find_cubin, folder=folder))
    device = cupy_device.CupyDevice(0)
    assert device.kernel(FILE, ENTRY, MACROS) is device.kernel(FILE, ENTRY, MACROS)
    return asked


def test_a_cubin_is_loaded_instead_of_compiling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nvrtc = [("nvrtc", (*OPTIONS, *BUILT))]
    assert loaded(monkeypatch, tmp_path, (9, 0)) == nvrtc
    path = put(tmp_path, 90)
    assert loaded(monkeypatch, tmp_path, (9, 0)) == [("cubin", path)]
    assert loaded(monkeypatch, tmp_path, (8, 0)) == nvrtc
    # One that the driver does not load is compiled after all.
    assert loaded(monkeypatch, tmp_path, (9, 0), broken=True) == [("cubin", path), *nvrtc]


@needs_nvcc
def test_the_script_makes_what_a_device_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:
    """For each architecture, once; what no kernel is made of any more is deleted."""
    made, old = script("make_cubins"), put(tmp_path, 80, "// gone")
    everything = [build for build in made.builds(True) if build[0] in ("bounds.cu", "rows.cu")]
    monkeypatch.setattr(made, "builds", lambda all_of_them: everything if all_of_them else [("bounds.cu", ())])
    assert made.main(["-o", str(tmp_path)]) == 0 and capsys.readouterr().out.startswith("3 cubins, ")
    paths = [find_cubin((architecture // 10, 0), kernel_source("bounds.cu"), (), tmp_path)
             for architecture in ARCHITECTURES]
    assert sorted(tmp_path.glob("sm_*/*")) == sorted(paths) and not old.exists()  # type: ignore[type-var]
    texts = [path.read_bytes() for path in paths if path is not None]
    assert len(set(texts)) == 3
    for text in texts:
        entries = {name.decode() for name in SECTION.findall(text)}
        assert entries == {"open_where", "tighten_upper", "tighten_lower", "close_where", "close_known"}
    times = [path.stat().st_mtime_ns for path in paths if path is not None]
    made.main(["-o", str(tmp_path)])
    assert [path.stat().st_mtime_ns for path in paths if path is not None] == times


@pytest.mark.parametrize("name", ["path-and-star", "grid"])
def test_a_run_by_itself_asks_only_for_usual_builds(tmp_path: Path, name: str) -> None:
    """So that it needs no compiler where there are cubins of these."""
    graph = counts.graph_named(str(write_store(tmp_path / "g.zarr", odd_graphs()[name])))
    asked = set[tuple[str, tuple[str, ...]]]()

    class Noting(ShimDevice):
        def kernel(self, file: Any, entry: str, defines: Any = None) -> Any:
            asked.add((str(file), define_options(defines or {})))
            return super().kernel(file, entry, defines)

    assert len(list(counts.measure(graph, Noting(total=1 << 30), counts.PATHS))) == len(counts.PATHS)
    usual = set(script("make_cubins").builds(False))
    assert {(FILE, BUILT), ("columns.cu", ())} < asked <= usual
