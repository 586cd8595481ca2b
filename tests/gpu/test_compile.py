"""Every kernel entry compiles for sm_90 within its budget of registers and without spills."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from emdiam.gpu.registry import ENTRIES, KernelEntry, combinations, find_entry
from emdiam.gpu.source import ARCHITECTURES, KERNELS, Define
from tests.simt import runner
from tests.simt.compile_proof import NVCC, Usage, compile_log, compile_logs, have_nvcc, read_log

needs_nvcc = pytest.mark.skipif(not have_nvcc(), reason=f"the CUDA compiler {NVCC} is not on this machine")
LOG = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'second' for 'sm_90'
ptxas info    : Function properties for second
    8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 132 bytes smem
ptxas info    : Compiling entry function 'first' for 'sm_90'
ptxas info    : Function properties for first
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 18 registers, used 0 barriers
"""


def builds() -> list[tuple[str, Mapping[str, Define]]]:
    """Every file with every set of macros that some entry of it names, each once."""
    found = {(entry.file, tuple(sorted(defines.items()))): defines for entry in ENTRIES for defines in entry.builds}
    return [(file, defines) for (file, _), defines in found.items()]


def faults(known: list[KernelEntry], used: dict[str, Usage]) -> list[str]:
    """How what a build holds differs from what the registry says of it."""
    names = {entry.entry for entry in known}
    found = [f"{name} is not in the registry" for name in sorted(used.keys() - names)]
    found += [f"{name} is in the registry alone" for name in sorted(names - used.keys())]
    for entry in known:
        usage = used.get(entry.entry)
        if usage and usage.spills:
            found.append(f"{entry.entry} spills {usage.spills} bytes")
        if usage and usage.stack:
            found.append(f"{entry.entry} has {usage.stack} bytes of local memory")
        if usage and usage.registers > entry.registers:
            found.append(f"{entry.entry} uses {usage.registers} registers, the budget is {entry.registers}")
    return found


# Macros in the build that a run mostly takes.
USUAL: Mapping[str, Define] = {
    "VERTEX": "u32", "INDEX": "u32", "DISTANCE": "u32", "MATRIX": 0, "WEIGHT": "u32", "PAIRS": 0,
    "LAYOUT": "LAYOUT_ROWS", "PACKED_LABELS": 1, "CELL": "i32", "TILE": 64, "LAZY": 1}
# Words of a wide batch of 2,048 sources; other batches mostly have one.
WIDEST = 32
# The load balancing that a run mostly takes.
MOSTLY = "MAPPING_TWO_PHASE"


def usual_builds() -> list[tuple[str, Mapping[str, Define]]]:
    """Of each file the builds of the usual macros."""
    return [(file, defines) for file, defines in builds() if is_usual(defines)]


def is_usual(defines: Mapping[str, Define]) -> bool:
    """Whether a build has the usual macros alone."""
    return (all(str(defines.get(name, value)) == str(value) for name, value in {**USUAL, "MAPPING": MOSTLY}.items())
            and defines.get("WORDS", 1) in (1, WIDEST))


def check(all_builds: list[tuple[str, Mapping[str, Define]]], architecture: int = 90) -> None:
    """Compile these builds and compare what they hold with the registry."""
    found = {}
    for (file, defines), log in zip(all_builds, compile_logs(all_builds, architecture), strict=True):
        known = [entry for entry in ENTRIES if entry.file == file and defines in entry.builds]
        found[f"{file} {dict(defines)}"] = faults(known, read_log(log))
    assert {build: what for build, what in found.items() if what} == {}


@needs_nvcc
def test_a_resident_kernel_compiles_within_its_budget() -> None:
    """Whose registers say how many blocks are resident, as a run mostly takes it. All other builds are slow."""
    resident = {entry.file for entry in ENTRIES if entry.cooperative and "/" not in entry.file}
    chosen = [(file, defines) for file, defines in usual_builds() if file in resident]
    assert len(chosen) == len(resident) == 5
    check([build for build in chosen if build[0] == "multi_source_whole.cu"])


def test_every_entry_has_a_usual_build() -> None:
    usual = usual_builds()
    assert all(any((entry.file, defines) in usual for defines in entry.builds) for entry in ENTRIES)


@needs_nvcc
@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_every_build_of_every_entry_compiles_within_its_budget(architecture: int) -> None:
    check(builds(), architecture)


@needs_nvcc
@pytest.mark.slow
def test_every_build_compiles_where_a_multiprocessor_has_1536_threads() -> None:
    """Graphics cards of compute capability 12: fewer blocks are resident there (simt.cuh), with more registers."""
    logs = compile_logs(builds(), 120)
    spilling = [build for build, log in zip(builds(), logs, strict=True)
                if any(usage.spills or usage.stack for usage in read_log(log).values())]
    assert spilling == [] and len(logs) > 600


def test_every_kernel_file_is_registered() -> None:
    assert {str(path.relative_to(KERNELS)) for path in KERNELS.rglob("*.cu")} == {entry.file for entry in ENTRIES}


def test_the_registry_is_sound() -> None:
    keys = [(entry.file, entry.entry) for entry in ENTRIES]
    assert len(set(keys)) == len(keys)
    for entry in ENTRIES:
        assert entry.builds and 32 <= entry.block <= 1024 and entry.block % 32 == 0
        # A block must fit a multiprocessor, which has 65,536 registers and hands them out by eights.
        assert -(-entry.registers // 8) * 8 * entry.block <= 65536
        assert find_entry(entry.file, entry.entry) is entry
    with pytest.raises(KeyError, match="nothing of variants/bfs_dal.cu is not in the registry"):
        find_entry("variants/bfs_dal.cu", "nothing")


def test_combinations() -> None:
    assert combinations(A=("x", "y"), B=(1,)) == ({"A": "x", "B": 1}, {"A": "y", "B": 1})
    assert combinations() == ({},)


def test_the_log_is_read() -> None:
    assert read_log(LOG) == {"second": Usage(40, 8, 16), "first": Usage(18, 0, 0)}


def test_every_difference_is_noticed() -> None:
    known = [KernelEntry("f.cu", "second", registers=32), KernelEntry("f.cu", "third")]
    assert faults(known, read_log(LOG)) == [
        "first is not in the registry", "third is in the registry alone", "second spills 16 bytes",
        "second has 8 bytes of local memory",
        "second uses 40 registers, the budget is 32"]


@needs_nvcc
@pytest.mark.slow
@pytest.mark.parametrize("name", ["primitives.cu", "planted.cu"])
def test_the_words_of_the_shim_are_those_of_cuda(name: str) -> None:
    """What the shim compiles, nvcc compiles: same names, same overloads."""
    assert set(read_log(compile_log(runner.HERE / name, {}))) == set(runner.load(runner.HERE / name).signatures)


@needs_nvcc
def test_a_kernel_with_a_warning_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "warns.cu"
    file.write_text('#include "simt.cuh"\nextern "C" __global__ void warns(u32* out) { u32 unused = 1; out[0] = 2; }\n')
    with pytest.raises(SyntaxError, match=r"warns.cu(.|\n)*unused"):
        compile_log(file, {})
