"""`emdiam info`: the figures of a store, and a check of its chunks."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError, redacted
from ..progress import Listener, silent
from ..runs.options import flag_of
from ..units import available_cores, format_count, format_size
from . import options
from .answer_lines import counts_line, directions_text, dropped_text, ids_text, proved_text, weights_lines
from .inputs import is_input, opened
from .outcome import EmdiamCommand
from .output import answer

if TYPE_CHECKING:
    from ..store.store import Store


@click.command(cls=EmdiamCommand)
@click.argument("store", metavar="GRAPH", type=click.Path(path_type=str), required=False)
@options.of("info")
def command(**values: Any) -> int:
    """Show counts, degrees and size of a store or a file."""
    if (values["store"] is None) == (values["device"] is None):
        raise click.UsageError("Give GRAPH, or --device gpu.")
    _check_used(values)
    if values["device"] is not None:
        from ..gpu.facts import device_facts

        answer(device_facts(values["device"]), device_text, values["as_json"])
        return 0
    works = any(values[name] for name in ("components", "check", "locality", "profile"))
    if not works and (facts := _declared(values["store"])) is not None:
        answer(facts, input_text, values["as_json"])
        return 0
    display: AbstractContextManager[Listener] = nullcontext(silent)
    if works or is_input(values["store"]):
        from .listener import listening

        display = listening(values)
    with display as listener, opened("info", values, listener) as (store, _):
        info = _looked_up(store, values, listener)
    info["path"] = redacted(values["store"])
    answer(info, info_text, values["as_json"])
    return 0


def _check_used(asked: dict[str, Any]) -> None:
    """Raise InputError for an option that would have no effect."""
    named = options.passed(asked, "store", "device")
    if asked["device"] is not None:
        if named:
            raise InputError("a GPU has no such figures", text=", ".join(flag_of("info", name) for name in named),
                             remedy="leave --device out")
        return
    of_profile = ("plots", "sample", *(() if is_input(asked["store"]) else ("time_limit",)))
    idle = [] if asked["profile"] else [flag_of("info", name) for name in of_profile if name in named]
    if idle:
        raise InputError(f"only --profile has {' and '.join(idle)}", remedy="give --profile too")


def _looked_up(store: Store, values: dict[str, Any], listener: Listener) -> dict[str, Any]:
    """The figures of a store, with the requested additions."""
    from ..store.arc_runs import store_info
    from ..store.store import check_directed

    if values["locality"] or values["profile"]:
        check_directed(store, False)
    info = store_info(store)
    if values["components"]:
        from ..runs.arcs import component_counts

        info["components"] = component_counts(store, values, listener)
    if values["check"]:
        from ..store.check import check_store

        info["checked"] = check_store(store, listener)
    if values["locality"]:
        from ..runs.probe import look_at_ids

        found = look_at_ids(store, threads=available_cores())
        info["locality"] = None if found is None else {**found.to_dict(), "text": str(found)}
    if values["profile"]:
        info["profile"] = _profiled(store, values, listener)
    return info


def _declared(name: str) -> dict[str, Any] | None:
    """The declared facts of a file with edges; None for a store, which needs no import of file readers."""
    if not Path(name).is_file():  # reading a pipe here would empty it
        return None
    from ..caller import declared, is_store

    return None if is_store(name) else declared(name)


def _profiled(store: Store, values: dict[str, Any], listener: Listener) -> dict[str, Any]:
    """The profile, with the names of the written plots. Raises InputError."""
    from ..runs.probe import profile

    if values["plots"] is not None:
        from ..report.page import check_plots

        check_plots()
    found = profile(store, values, listener)
    if values["plots"] is None:
        return found.to_dict()
    from ..links import followed
    from ..report.drawing import draw_degrees, draw_distances, write_figure

    followed(values["plots"])
    values["plots"].mkdir(parents=True, exist_ok=True)
    files = [*write_figure(draw_degrees(found.degrees), values["plots"] / "degrees"),
             *write_figure(draw_distances(found.pairs, found.mean, found.effective_diameter),
                           values["plots"] / "distances")]
    return {**found.to_dict(), "plots": [str(file) for file in files]}


def input_text(facts: dict[str, Any]) -> str:
    """Lines for the result of `declared`."""
    what = format_count(facts["n_entries"], "arc" if facts["directed"] else "pair")
    bits = "" if facts["bits_per_entry"] is None else f", {facts['bits_per_entry']:.3f} bits each"
    vertices = format_count(facts["n_vertices"], "vertex", "vertices")
    return (f"{facts['path']}: {facts['format']}, {vertices}, {what}\nsize: {format_size(facts['size_bytes'])}{bits}\n"
            f"this is no store yet: emdiam convert {facts['path']} STORE")


def device_text(facts: dict[str, Any]) -> str:
    """Lines for the result of `device_facts`."""
    search, kernels, shipped = facts["bfs"], facts["kernels"], facts["kernels_shipped"]
    return (f"{facts['name']}: {format_size(facts['memory_bytes'])}, {format_size(facts['free_bytes'])} of it free\n"
            f"{facts['multiprocessors']} multiprocessors, compute capability {facts['compute_capability']}\n"
            f"driver: CUDA {facts['driver']}; CuPy {facts['cupy']}\n"
            f"kernels: {shipped:,} of {kernels:,} are there for it, the others are compiled when they are first used\n"
            f"copies from memory: {format_size(round(facts['copy_bytes_per_second']))} a second\n"
            f"one BFS is right: {search['vertices']:,} vertices, {search['arcs']:,} arcs, {search['levels']} levels in"
            f" {1000 * search['seconds']:.2f} ms")


def info_text(info: dict[str, Any]) -> str:
    """Lines for the result of `store_info`."""
    degree, per_edge = info["degree"], info["bytes_per_edge"]
    # Numbers of vertices by degree, in ranges from one power of two to the next.
    counts = ", ".join(f"{_span(bucket)}: {bucket['vertices']:,}" for bucket in degree["histogram"]
                       if bucket["vertices"])
    lines = [
        counts_line(info["path"], info),
        f"degrees{' out' if info['directed'] else ''}: {degree['min']:,} to {degree['max']:,}, mean"
        f" {degree['mean']:.2f}; " + (f"{degree['isolated']:,} without an arc out" if info["directed"] else
                                      format_count(degree["isolated"], "isolated vertex", "isolated vertices")),
        f"vertices by degree: {counts}",
        f"ids: {ids_text(info)}",
        *weights_lines(info),
        f"order: {info['ordering']}",
        *_component_lines(info),
        *_locality_lines(info),
        *_profile_lines(info),
        *_origin_lines(info),
        f"layout: format {info['format_version']}, codec {info['codec']}, chunks of"
        f" {format_size(info['chunk_bytes'])} in shards of {format_size(info['shard_bytes'])}",
    ]
    if info["bytes"] is not None:
        lines.append(f"size: {format_size(info['bytes'])} in {format_count(info['n_files'], 'file')}"
                     + ("" if per_edge is None else f", {per_edge:,.2f} bytes an edge"))
    lines += [f"  {name}: {array['items']:,} x {array['dtype']} in {format_count(array['chunks'], 'chunk')}"
              + ("" if array["stored_bytes"] is None else f", {format_size(array['stored_bytes'])}")
              for name, array in info["arrays"].items()]
    lines.append(f"digest: {info['digest']}")
    if "checked" in info:
        lines.insert(1, f"checked: {format_count(info['checked']['chunks'], 'chunk')},"
                        f" {format_count(info['checked']['arcs'], 'arc')}; no fault")
    return "\n".join(lines)


def _component_lines(info: dict[str, Any]) -> list[str]:
    """The counts of --components."""
    if "components" not in info:
        return []
    found = info["components"]
    return [f"strong components: {found['n_strong_components']:,}, the largest of"
            f" {format_count(found['largest_strong_component'], 'vertex', 'vertices')}; weak components:"
            f" {found['n_components']:,}, the largest of"
            f" {format_count(found['largest_component'], 'vertex', 'vertices')}"]


def _locality_lines(info: dict[str, Any]) -> list[str]:
    """The results of --locality."""
    if "locality" not in info:
        return []
    found = info["locality"]
    if found is None:
        return ["locality: all edges are in a few blocks, too few for a measurement"]
    advice = "" if found["local"] is not False else "; see emdiam reorder"
    return [f"locality (a tenth of the edges in memory): {found['text']}{advice}"]


def _profile_lines(info: dict[str, Any]) -> list[str]:
    """The counts of --profile."""
    if "profile" not in info:
        return []
    found = info["profile"]
    lines = [f"triangles: {found['triangles']:,}; average clustering coefficient {_share(found['average_clustering'])},"
             f" transitivity {_share(found['transitivity'])}",
             f"degeneracy: {found['degeneracy']:,}"]
    if found["effective_diameter"] is not None:
        error = found["standard_error"]["effective_diameter"]
        ratio = found["effective_ratio"]
        lines.append(f"distances: mean {found['mean']:.4f}, D90 {found['effective_diameter']:.4f}"
                     + (f" (standard error {error:.2g})" if error else "")
                     + f", D {proved_text(found['lower'], found['upper'])}"
                     + ("" if ratio is None else f", D90 / D {ratio:.3f}"))
    return [*lines, *([f"plots: {', '.join(found['plots'])}"] if "plots" in found else [])]


def _share(value: float | None) -> str:
    return "none" if value is None else f"{value:.4f}"


def _origin_lines(info: dict[str, Any]) -> list[str]:
    """The input of the store, the directions of its edges, and the dropped pairs."""
    pairs = "" if info["pairs_read"] is None else f"; {format_count(info['pairs_read'], 'pair')}"
    dropped = [f"{name} ({count:,})" for name, count in (info["values_dropped"] or {}).items()]
    return [
        f"made from: {info['source_format']}, {', '.join(info['source'])}{pairs}; {dropped_text(info)}",
        *([f"read as: {info['reading']}"] if info["reading"] else []),
        *([f"dropped values: {', '.join(dropped)}"] if dropped else []),
        f"directions: {directions_text(info) or ('directed' if info['directed_input'] else 'undirected')}",
    ]


def _span(bucket: dict[str, int]) -> str:
    low, high = bucket["from"], bucket["to"]
    return f"{low:,}" if low >= high else f"{low:,}-{high:,}"
