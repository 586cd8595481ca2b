"""The table of the options of all commands, which are also the keywords of the functions in Python.

The command line (cli/options.py), tasks (how they parse options, and which they refuse along arcs and weights), and the
signatures of the functions of api.py come from this table. It imports no library, since `--help` reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from ..errors import closest
from ..formats.registry import FORMATS, HEADERS
from ..units import available_cores
from .option import (
    ALL_PAIRS,
    AUTO,
    CODECS,
    COUNT,
    DEVICE_SEARCHES,
    DIRECTIONS,
    DURATION,
    EITHER,
    FILE,
    FLAG,
    FOLDER,
    INPUT,
    INTEGER,
    LENGTH,
    NAMED,
    NATURAL,
    NEVER,
    OFF,
    ON,
    ORDERS,
    POSITIVE,
    PROBE_SECONDS,
    RAM,
    REAL,
    REORDER,
    REPORTS,
    SCRATCH,
    SEARCHES,
    SIZE,
    STATES,
    STORE,
    Option,
)
from .registry import ALL, APPROXIMATIONS, EXACT, METHODS, METRICS

# Commands that may go along arcs, along weights, and along weighted arcs; options of all of them, or of one.
_METRIC = ("exact", "approx", "ecc", "distances")
_SOME: tuple[dict[str, Any], ...] = tuple(
    dict.fromkeys(("arcs", "weights", "both"), some) for some in (_METRIC, *((one,) for one in _METRIC[1:])))
_ALONG, _OF_APPROX, _OF_ECC, _OF_DISTANCES = _SOME
# Commands that use the weights and directions of a store by default; options that keep those of a temporary store.
PATHS, KEPT = ("sssp", "apsp"), ("weighted", "directed")


_ROWS = (
    # Every run.
    Option("memory", SIZE, "Peak resident memory of this process, e.g. 4GiB. [default: nine tenths of the available"
           " memory]", "SIZE", shared=True, **_ALONG),
    Option("arena", SIZE, "Cache of decoded edges. [default: what --memory leaves]", "SIZE", shared=True, **_ALONG),
    Option("threads", POSITIVE, "Threads that read, decode and compute.", "N", shared=True, **_ALONG,
           usual=(available_cores, "the cores this process may use")),
    Option("time_limit", DURATION, "Stop a run after TIME, e.g. 10s, 5min or 8h; the answer is then the proved"
           " interval, with exit code 3.", "TIME", shared=True, **_ALONG),
    Option("scratch", SCRATCH, "Folder for temporary files: data for which memory is too small, and a reordered"
           " store. [default: $TMPDIR or /var/tmp]", "DIR", arcs=_METRIC, both=_METRIC),
    Option("evict_page_cache", FLAG, "Drop the pages that were read from the page cache, so that every read is from"
           " disk: for benchmarks.", shared=True, **_ALONG),
    Option("vertex_state", help="Where distances and bounds of vertices are: ram, disk (in --scratch), or auto, on disk"
           " where memory has no room for them.", choices=STATES, default=AUTO, shared=True,
           idle=(AUTO, RAM)),
    Option("device", help="Device of traversals: cpu, gpu, gpu:N (the GPU of number N), gpu:N,M (several), or auto: a"
           " GPU if there is one, else the CPU. Each worker uses one of its machine.", metavar="DEVICE",
           default="cpu", shared=True, arcs=_METRIC[:3], weights=_METRIC[:3], both=_METRIC[:3], idle=("cpu",)),
    Option("vram", SIZE, "Memory of the GPU to use; a larger graph is paged. [default: all that is free]", "SIZE",
           shared=True, arcs=_METRIC[:3]),
    Option("bfs", help="Variant of BFS on a GPU, by its name in docs/algorithms/gpu-bfs.md, with knobs as in"
           " bfs-4k:least-warp=8; on the CPU queue, with one thread a BFS. [default: auto]", metavar="NAME",
           shared=True),
    Option("mapping", help="Load balancing of a BFS on a GPU, by its name there, with knobs as in"
           " virtual-warps:lanes=16. [default: the variant's]", metavar="NAME", shared=True),
    Option("workers", POSITIVE, "Share the run out to N worker processes of dask.distributed, on this machine; with"
           " --scheduler to N of its workers.", "N", shared=True),
    Option("scheduler", help="Share the run out to the workers of a running Dask scheduler, e.g. tcp://host:8786, or by"
           " the file that it writes with --scheduler-file.", metavar="ADDRESS", shared=True, annotation="Any"),
    Option("worker_memory", SIZE, "Peak resident memory of a worker process. [default: its share of nine tenths of"
           " the available memory of its machine]", "SIZE", shared=True),
    Option("worker_threads", POSITIVE, "Threads of a worker. [default: as Dask started it; on this machine, its share"
           " of --threads]", "N", shared=True),
    Option("dashboard", ON, "With --workers: let every user of this machine look at the run in Dask's dashboard; a line"
           " says where.", shared=True),
    Option("reorder", help="Reorder a store that memory has no room for first, so that neighbours are close together:"
           " auto, as soon as a BFS shows that this is faster. Answers stay in your ids.",
           choices=REORDER, default=AUTO, shared=True, idle=(AUTO, NEVER)),
    Option("keep_reordered", STORE, "Keep the store in that order as NEW, if one is made. [default: a temporary one]",
           "NEW", shared=True),
    Option("checkpoint", FOLDER, "Save the state of the work in DIR while it runs, for --resume.", "DIR", shared=True,
           annotation="CheckpointOptions | str | Path | None"),
    Option("checkpoint_every", DURATION, "Save also within a long traversal or phase, each time that TIME has gone by,"
           " e.g. 30s or 10min. [default: 5min]", "TIME", shared=True),
    Option("resume", FLAG, "Continue from the checkpoint of the same command, or begin if there is none. Without"
           " --checkpoint it is STORE.resume beside the new store, or in the folder for temporary files.",
           shared=True),
    Option("keep_checkpoint", FLAG, "Leave the checkpoint in place at the end.", shared=True),
    Option("progress", annotation="Listener | bool | None"),
    # Output of a command.
    Option("as_json", FLAG, "Print one JSON object on standard output.", flags=("--json",)),
    Option("as_csv", FLAG, "Print a table as CSV, one row a run.", flags=("--csv",)),
    Option("verbose", FLAG, "Show also the planned and the predicted memory.", flags=("--verbose", "-v")),
    Option("quiet", FLAG, "Show no progress.", flags=("--quiet", "-q")),
    Option("log_interval", REAL, "Seconds between progress lines where standard error is no terminal.", "SECONDS",
           default=10.0, limits=(0, None)),
    Option("events", FILE, "Append every event of the run to FILE, one JSON object a line.", "FILE"),
    # Methods.
    Option("method", help="Exact method.", of="exact", choices=EXACT, default="pivots", weights=("exact",),
           both=("exact",)),
    Option("method", help="Approximation. [default: clusters; with --directed sweep]", of="approx",
           choices=APPROXIMATIONS),
    Option("path", FILE, "Write a longest shortest path to FILE, one vertex id a line. A path of more than 10,000"
           " vertices is shown nowhere else.", "FILE", arcs=("exact",), weights=("exact",), both=("exact",)),
    Option("certificate", FILE, "Write the proof to FILE, for `emdiam verify`.", "FILE", shared=True,
           arcs=("exact",), weights=("exact", "ecc"), both=("exact", "ecc")),
    Option("from_proof", INPUT, "Begin with the sources of PROOF, a certificate of an earlier version of the graph.",
           "PROOF", flags=("--from",), arcs=("exact",), weights=("exact", "ecc"), both=("exact", "ecc"),
           annotation="str | Path | None"),
    Option("certificate", FILE, "Write a proved interval of the mean distance to FILE, for `emdiam verify`.", "FILE",
           of="distances"),
    Option("certificate_sources", POSITIVE, "Sources that the interval of --certificate is proved by. [default: 64]",
           "K"),
    Option("bounds_only", FLAG, "Stop at the bounds of a few BFS.", shared=True),
    Option("gap", NATURAL, "Stop once the bounds differ by at most G.", "G", shared=True, arcs=("exact",)),
    Option("components", INTEGER, "List the K largest components, each with its vertices and its diameter.", "K",
           limits=(1, 1 << 16)),
    Option("require_connected", FLAG, "Leave with exit code 2 if the graph is disconnected.", shared=True,
           arcs=_METRIC[:3], both=_METRIC[:3]),
    *(Option("directed", FLAG, "Along arcs, of a file, or of a store converted with --directed: the largest finite"
             f" distance. By {methods}.", of=of) for of, methods in (
                 ("", "pivots, graph-diameter and apsp"), ("approx", "sweep"),
                 ("plan", "the methods that are for them"))),
    Option("directed", help="Along arcs, of a file, or of a store converted with --directed: the largest finite"
           " distance from every vertex (out), or to it (in).", of="ecc", choices=("out", "in")),
    *(Option(row.chosen[-1], FLAG, kind.help, of=command, annotation=row.annotation) for row in METRICS.values()
      for command, kind in row.kinds.items() if kind.help),
    Option("weight", help="Distances are sums of the weights in this column of a file, by its name or its number from"
           " 1; of a store, its weights of this name.", metavar="COLUMN"),
    Option("seed", NATURAL, "pivots, graph-diameter, fdiam, ifub: seed of random choices. [default: 0]", "N",
           arcs=("exact",), both=("exact",)),
    Option("seed", NATURAL, "Seed of all random choices. [default: 0]", "N", of="approx", weights=("approx",)),
    Option("batches", OFF, "pivots: no multi-source batches.", flags=("--no-batches",)),
    Option("winnow", OFF, "fdiam: no Winnow.", flags=("--no-winnow",)),
    Option("eliminate", OFF, "fdiam: no Eliminate.", flags=("--no-eliminate",)),
    Option("chains", OFF, "fdiam: no Chain Processing.", flags=("--no-chains",)),
    Option("start", choices=("max-degree", "first", "center", "auto", "random"),
           help="fdiam: centre of Winnow, center being that of four sweeps, auto the better one of it and max-degree;"
           " ifub: where the sweeps begin, max-degree or random. [default: max-degree]"),
    Option("order", help="fdiam: order of the BFS from the remaining vertices. [default: ascending]",
           of="exact", choices=("ascending", "random")),
    Option("first", help="bounding: begin at the largest upper bound, or at the smallest lower one. [default: upper]",
           choices=("upper", "lower")),
    Option("batch", POSITIVE, "bounding, ifub, korf, apsp: sources of one multi-source BFS. [default: 1]", "K"),
    Option("k", POSITIVE, "sweep-k: number of BFS in a component. [default: 16]", "K", flags=("-k", "--sources")),
    Option("sweeps", NATURAL, arcs=("exact",), both=("exact",)),
    Option("direction", help="Rule for top-down and bottom-up levels of a BFS: least work, the rule of Beamer et al.,"
           " or the rule of the F-Diam paper (bottom-up from a tenth of the vertices on). [default: work]",
           choices=DIRECTIONS, shared=True),
    Option("masters", help="clusters: expected number of masters (cluster centres): a count, a share of the vertices"
           " like 10%, or auto. A list, as 2^10,2^14,10%, makes a run of each. [default: auto]", metavar="M",
           of="approx", annotation="int | str | None", weights=("approx",)),
    Option("euler", ON, "clusters: further masters along an Euler tour, so that every vertex is near one.",
           of="approx"),
    Option("levels", help="clusters: how often they condense the graph, or auto: until it fits in memory. [default: 1]",
           metavar="K", annotation="int | str | None"),
    Option("shrink", POSITIVE, "clusters: of how many one is a master of the next level. [default: 16]", "K"),
    Option("condensed_sssp", choices=("auto", "label-correcting", "semi-external"), of="approx",
           help="clusters: shortest paths in the condensed graph: auto, in memory if it fits; or on disk with labels"
           " that are corrected, or with one bit a vertex (semi-external). [default: auto]"),
    Option("iterations", POSITIVE, "sweep, fringe, spanning: most iterations. [default: the method's]", "N",
           **_OF_APPROX),
    Option("root", metavar="ROOT", annotation="int | str | None",
           help="spanning: what the tree hangs from: hub, the vertex of the highest degree; random; or the id of a"
           " vertex. [default: hub]"),
    Option("known_diameter", LENGTH, "Largest diameter of any component, if it is known: the answer has estimate / D.",
           "D", of="approx", **_OF_APPROX),
    # Eccentricities.
    Option("out", FILE, "Write the eccentricities to FILE, a row a vertex: id, eccentricity, component. CSV if its name"
           " ends in .csv, else Parquet.", "FILE", of="ecc", **_OF_ECC),
    Option("radius", FLAG, "Only the radius of the largest component, by a few traversals."),
    Option("center", FLAG, "Only the centre of the largest component, and its radius."),
    Option("what", default="all", weights=("ecc",), idle=("all",)),
    Option("keep", ON, **_OF_ECC),
    Option("keep", FLAG, of="distances", **_OF_DISTANCES),
    # Distances.
    Option("sample", COUNT, "Count from K vertices, drawn at random, or from all if there are fewer. [default: 1024]",
           "K", **_OF_DISTANCES),
    Option("exact", FLAG, "Count from all vertices.", **_OF_DISTANCES),
    Option("hyperball", INTEGER, "Estimate from HyperLogLog counters of 2^P registers at every vertex, 4 to 16.", "P",
           limits=(4, 16), **_OF_DISTANCES),
    Option("directed", FLAG, "Along arcs, of a store converted with --directed; pairs are ordered then.",
           of="distances"),
    Option("quantile", REAL, "Share of the connected pairs within the effective diameter.", "Q", default=0.9,
           limits=(0, 1), **_OF_DISTANCES),
    Option("seed", NATURAL, "Seed of the sample, or of the hash of --hyperball.", "N", of="distances", default=0,
           **_OF_DISTANCES),
    Option("out", FILE, "Write the closeness and the harmonic centrality of every vertex to FILE, as CSV if its"
           " name ends in .csv, else Parquet.", "FILE", of="distances", **_OF_DISTANCES),
    Option("sources", INPUT, "Write the distances from the vertices in FILE, an id on every line, to those of"
           " --targets, to --out: origin, destination, distance.", "FILE", of="distances", **_OF_DISTANCES,
           annotation="str | Path | Sequence[Any] | None"),
    Option("targets", INPUT, "See --sources. [default: all vertices]", "FILE", of="distances",
           **_OF_DISTANCES, annotation="str | Path | Sequence[Any] | None"),
    # Shortest paths.
    Option("source", help="The vertex that paths begin at, by its id in the input.", metavar="ID", required=True,
           annotation="int | str"),
    Option("target", help="Show a shortest path to this vertex.", metavar="ID", annotation="int | str | None"),
    Option("method", help="How paths are searched; see docs/algorithms/shortest-paths.md.", of="sssp",
           choices=(*SEARCHES, *DEVICE_SEARCHES), default="auto"),
    Option("delta", REAL, "Width of a bucket of distances: inf is a single one. [default: 32 x mean weight / mean"
           " degree]", "D", limits=(0, None)),
    Option("out", FILE, "Write distance and predecessor of every vertex to FILE, as CSV if its name ends in .csv,"
           " else Parquet.", "FILE", of="sssp"),
    Option("device", help="Device of searches: cpu, gpu, gpu:N (the GPU of number N), or auto: a GPU if there is one,"
           " else the CPU.", metavar="DEVICE", of="sssp", default="cpu"),
    Option("keep", FLAG, of="sssp", default=True),
    *(Option("weighted", FLAG, of=of, annotation="bool | str") for of in ("verify", "plan")),
    *(Option("weighted", FLAG, "For a file of edges: distances are sums of its weights; a store has its own.",
             of=of, annotation="bool | str") for of in PATHS),
    *(Option("directed", FLAG, "For a file of edges: keep its directions; a store has them, or not.", of=of)
      for of in PATHS),
    # All pairs.
    Option("out", STORE, "Write the matrix of distances to FILE, a Zarr group.", "FILE", of="apsp", required=True),
    Option("method", help="How distances are found: by a search from every vertex, or on dense graphs by tiles of the"
           " matrix.", of="apsp", choices=ALL_PAIRS, default="auto"),
    Option("force", FLAG, "Replace FILE if it exists.", of="apsp"),
    Option("device", help="Device of the run: cpu, gpu, gpu:N (the GPU of number N), or auto: a GPU if there is one,"
           " else the CPU. A GPU has all but johnson and separators.",
           metavar="DEVICE", of="apsp", default="cpu"),
    # Plans.
    Option("method", help="Method of exact or approx, or a table of all of them.", of="plan", choices=(ALL, *METHODS),
           default=ALL),
    Option("masters", help="clusters: number of masters, as for `emdiam approx`. [default: auto]", metavar="M",
           of="plan", annotation="int | str | None"),
    Option("euler", ON, "clusters: further masters along an Euler tour.", of="plan"),
    Option("probe", DURATION, "Look at the graph by four BFS, for at most TIME.", "TIME",
           default=f"{PROBE_SECONDS:.0f}s", annotation="float | str | None"),
    Option("no_probe", FLAG, "Do not look at the graph; predict from its size alone."),
    # Information about a store.
    Option("check", FLAG, "Read all of the store and check it: checksums, digest, and that the rows are those of a"
           " graph."),
    Option("components", FLAG, "Count strong and weak components of a store converted with --directed.", of="info"),
    Option("locality", FLAG, "Look for up to ten seconds how often one BFS reads the store with a tenth of its edges in"
           " memory."),
    Option("profile", FLAG, "Count triangles, clustering, degeneracy, distances and the diameter, too."),
    Option("plots", FOLDER, "--profile: write plots of degrees and of distances to DIR, as SVG and PNG.", "DIR"),
    Option("device", help="Look at a GPU in place of a store, gpu or gpu:N: memory, driver, kernels that need no"
           " compiler, copies, and one BFS that is checked.", metavar="DEVICE", of="info"),
    Option("sample", COUNT, "--profile: count distances from K vertices. [default: 1024]", "K", of="info"),
    # Writing a store.
    *(Option("scratch", SCRATCH, "Folder for temporary files of the sort. [default: beside the store]", "DIR", of=of)
      for of in ("convert", "apply", "reorder", "generate")),
    Option("force", FLAG, "Replace STORE if it exists."),
    *(Option("force", FLAG, "Replace NEW if it exists.", of=of) for of in ("apply", "reorder")),
    Option("fmt", help="Format of the input: " + ", ".join(FORMATS) + ". [default: from suffix and content]",
           metavar="NAME", flags=("--format",), keyword="format", offered=tuple(FORMATS)),
    Option("ids", help="Whether vertex ids are integers or strings; auto: as the first edge has them.",
           choices=("auto", "int", "string"), default="auto"),
    Option("columns", help="The two ends of an edge in a table, by name or by number from 1. [default: found by the"
           " names]", metavar="SRC,DST", annotation="str | Sequence[str | int] | None"),
    Option("header", help="Kind of the first line of a text: an edge (none), counts of vertices and edges, or names.",
           choices=HEADERS, default="auto"),
    Option("encoding", help="Encoding of texts, such as latin-1. [default: UTF-8, or by its mark]", metavar="NAME"),
    Option("vertices", INPUT, "A file that lists the vertices, also those without an edge: ids, or ids and names, which"
           " answers then have.", "FILE", of="convert", annotation="str | Path | Sequence[str | Path] | None"),
    Option("codec", help="Compression of the store; pcodec is smaller and slower than lz4.", choices=CODECS,
           default="lz4", annotation="str | None"),
    Option("codec", help="Compression of the new store. [default: as STORE]", of="reorder", choices=CODECS),
    Option("chunk", COUNT, "Vertex ids in a chunk. [default: 2^16]", "COUNT"),
    Option("chunk", COUNT, "Vertex ids in a chunk. [default: as STORE]", "COUNT", of="reorder"),
    Option("order", help="Order of the vertices in the store, as `emdiam reorder` has them.", of="convert",
           choices=ORDERS, default="natural"),
    Option("order", help="natural: increasing ids. degree: descending degree. bfs: by component, then by distance from"
           " its hub. cluster: clusters of neighbours together.", of="reorder", choices=ORDERS, required=True),
    Option("directed", FLAG, "Keep the direction of every edge, and the reverse beside it, in the natural order.",
           of="convert"),
    Option("bipartite", FLAG, "Take sources and targets, or rows and columns, as two sides that are numbered apart."),
    Option("weights", NAMED, "Keep the weights of edges: those of the format, or the column of this name or number,"
           " behind the files or as --weights=COLUMN.", "[COLUMN]", of="convert",
           annotation="bool | str | WeightChoice | None"),
    Option("allow_negative", FLAG, "--weights: weights may be below 0."),
    Option("add", INPUT, "Edges that the new store gets, in any format that `emdiam convert` reads, or - for standard"
           " input.", "FILE", annotation="Any"),
    Option("remove", INPUT, "Edges of STORE that it does not get.", "FILE", annotation="Any"),
    Option("strict", FLAG, "Refuse an edge to remove that is not in STORE. [default: it is counted]"),
    Option("weights", help="The column with the weights of --add, by name or number. [default: as they are called in"
           " STORE]", metavar="COLUMN", of="apply"),
    Option("seed", COUNT, "Seed of the random numbers; orders without chance ignore it.", "N", of="reorder", default=0,
           annotation="int"),
    Option("vertices", COUNT, "Number of vertices.", "COUNT"),
    Option("seed", COUNT, "Seed of the random numbers; classes without chance ignore it.", "N", of="generate",
           default=0, annotation="int"),
    Option("weights", help="Give every edge a weight, a whole number, or a float if a bound has a point.",
           metavar="uniform:LOW,HIGH", of="generate"),
    # Several runs.
    Option("out", FOLDER, "Folder for the results of runs, tables and plots. The same command continues from it.",
           "DIR", of="tradeoff", required=True),
    Option("methods", help="Approximations, separated by commas.", metavar="LIST", default=",".join(APPROXIMATIONS),
           annotation="str | Sequence[str]"),
    Option("masters", help="clusters: numbers of masters (cluster centres), separated by commas: counts, shares like"
           " 10%, auto, and ranges FIRST..LAST:FACTOR.", metavar="LIST", of="tradeoff", default="2^8..2^24:4",
           annotation="int | str | Sequence[int | str]"),
    Option("seeds", help="Seeds of all random choices, separated by commas: every run once with each.", metavar="LIST",
           default="0", flags=("--seed",), annotation="int | str | Sequence[int]"),
    Option("exact", FLAG, "First an exact run, which proves the diameter.", of="tradeoff"),
    Option("known_diameter", NATURAL, "Largest diameter of any component, if it is known: for the ratios estimate / D.",
           "D", of="tradeoff"),
    Option("euler", FLAG, "clusters: further masters along an Euler tour.", of="tradeoff"),
    Option("time_limit", DURATION, "Stop a run after TIME, e.g. 10s, 5min or 8h, with the bounds so far.", "TIME",
           of="tradeoff"),
    Option("checkpoint_every", DURATION, "Save the state of a run every TIME, within a long traversal too, so that a"
           " stopped run continues. [default: it begins again]", "TIME", of="tradeoff"),
    Option("retry", FLAG, "Run failed and stopped runs again.", of="tradeoff"),
    Option("weighted", FLAG, "Distances are sums of weights, as the store has them (clusters and sweep).",
           of="tradeoff"),
    Option("plots", OFF, "Write tables, but no plots.", of="tradeoff", flags=("--no-plots",)),
    Option("out", FOLDER, "Folder for results, logs and checkpoints. [default: as the file says, else JOBS.out beside"
           " it]", "DIR", of="batch"),
    Option("memory", SIZE, "Memory of all jobs that run at the same time. [default: as the file says]", "SIZE",
           of="batch"),
    Option("parallel", POSITIVE, "Jobs at the same time, as far as memory allows. [default: as the file says, else 1]",
           "N"),
    Option("as_json", FLAG, "Print a JSON object a line on standard output: one for each job as it ends, then one for"
           " the batch.", flags=("--json",), of="batch"),
    Option("resume", FLAG, "Go on where the batch was stopped, as it does without this option, too.", of="batch"),
    Option("keep_going", FLAG, "Run the other jobs where some have a fault in the file."),
    Option("retry", FLAG, "Run again the jobs that failed or met their time limit.", of="batch"),
    Option("dry_run", FLAG, "Check the file and show the jobs, without running one."),
    Option("out", EITHER, "File to write; for png a folder. [default: report.html, report-figures; standard output for"
           " md and json]", "FILE", of="report", flags=("-o", "--out")),
    Option("wanted", help="One page, Markdown, JSON, or figures alone. [default: by the name of FILE, else html]",
           flags=("--format",), choices=REPORTS),
    Option("everything", FLAG, "Those of every method, for every width of distances, and for graphs larger than memory."
           " [default: those of the default methods of exact and approx]", flags=("--all",), keyword="all"),
)
_TABLE = {(row.of, row.name): row for row in _ROWS}

# Options that all methods of exact, approx and ecc have.
SHARED = tuple(row.name for row in _ROWS if row.shared)
CHECKPOINT = ("checkpoint", "checkpoint_every", "resume", "keep_checkpoint")
PRINTED = ("as_json", "as_csv", "verbose", "quiet", "log_interval", "events")
_GPU, _WORKERS = "device vram bfs mapping", "workers scheduler worker_memory worker_threads dashboard"
_ENDS, _STORED = "require_connected time_limit " + " ".join(CHECKPOINT), "vertex_state scratch reorder keep_reordered"
_PRINTING = "as_json verbose quiet log_interval events"
_SIZES = "memory arena threads"
# The options of each command that choose a metric, from the registry.
_METRICS = {command: " ".join(row.chosen[-1] for row in METRICS.values() if command in row.kinds
                              and row.kinds[command].help) for command in ("exact", "approx", "ecc", "distances")}
# The options of each command, in the order of its help.
COMMANDS = {name: tuple(options.split()) for name, options in {
    "exact": f"method {_SIZES} {_GPU} {_WORKERS} path certificate from_proof directed bounds_only gap"
             f" {_METRICS['exact']} weight components {_ENDS} seed batches {_STORED} winnow eliminate chains start"
             f" order first batch k direction evict_page_cache {_PRINTING}",
    "approx": f"method masters seed euler levels shrink condensed_sssp iterations root directed {_METRICS['approx']}"
              f" weight known_diameter {_SIZES} {_GPU} {_WORKERS} {_STORED} {_ENDS} evict_page_cache as_json as_csv"
              " verbose quiet log_interval events",
    "ecc": f"out certificate from_proof directed {_METRICS['ecc']} weight radius center {_SIZES} {_GPU} {_WORKERS}"
           f" {_ENDS} {_STORED} evict_page_cache {_PRINTING}",
    "distances": f"sample exact hyperball directed {_METRICS['distances']} weight quantile seed out certificate"
                 " certificate_sources sources targets"
                 f" time_limit {_SIZES} vertex_state scratch"
                 f" evict_page_cache {_GPU} {_WORKERS} {_PRINTING}",
    "sssp": f"source target method delta out weighted weight directed device {_SIZES} evict_page_cache {_PRINTING}",
    "apsp": f"out method force weighted weight directed device time_limit memory threads {_PRINTING}",
    "plan": "memory arena vertex_state method batch masters euler directed weighted weight probe no_probe threads"
            " device as_json quiet log_interval events",
    "info": "as_json check components locality profile plots sample device memory threads time_limit scratch quiet"
            " log_interval events",
    "convert": "memory scratch force fmt ids columns header encoding vertices codec chunk order directed bipartite"
               f" weights allow_negative {' '.join(CHECKPOINT)} threads {_PRINTING}",
    "apply": f"add remove strict weights memory scratch force fmt columns header encoding threads {_PRINTING}",
    "reorder": f"order seed memory scratch force codec chunk {' '.join(CHECKPOINT)} threads {_PRINTING}",
    "generate": f"vertices seed weights memory scratch force threads {_PRINTING}",
    "verify": f"memory threads scratch columns weight {_PRINTING}",
    "tradeoff": f"out methods masters seeds exact known_diameter iterations euler levels weighted {_SIZES} device"
                " workers scheduler worker_memory worker_threads vertex_state scratch reorder time_limit"
                " checkpoint_every evict_page_cache retry plots as_json quiet log_interval events",
    "batch": "out memory parallel resume keep_going retry dry_run as_json quiet log_interval events",
    "report": "out wanted as_json",
    "warmup": "everything as_json quiet log_interval events",
}.items()}


def _with(command: str, more: str, *without: str) -> tuple[str, tuple[str, ...]]:
    """(command, keywords of its function): the command's options without output options and `without`, and `more`."""
    names = [name for name in COMMANDS[command] if name not in (*PRINTED, *without)]
    return command, (*names, *more.split())


# The keywords of the functions of api.py: the command of their options, and their names.
FUNCTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "exact": _with("exact", "sweeps columns progress"),
    "diameter": ("exact", tuple(f"method {_SIZES} device bfs mapping {_WORKERS} scratch require_connected directed"
                                " weight weighted columns progress".split())),
    "convert": _with("convert", "weight progress", "allow_negative"),
    "approximate": _with("approx", "gap direction columns progress"),
    "eccentricities": _with("ecc", "what direction seed keep columns progress", "radius", "center"),
    "distances": _with("distances", "keep columns progress"),
    "shortest_paths": _with("sssp", "columns keep scratch progress", "source"),
    "all_pairs": _with("apsp", "columns scratch progress", "device"),
    "profile": ("info", ("sample", "seed", "time_limit", "memory", "threads", "scratch", "columns", "progress")),
    "generate": _with("generate", "codec chunk progress"),
    "apply": _with("apply", "progress"),
    "reorder": _with("reorder", "progress"),
    "plan": _with("plan", "columns", "no_probe"),
    "tradeoff": _with("tradeoff", "progress", "out"),
    "verify": _with("verify", "weighted progress"),
    "warmup": _with("warmup", "progress"),
}
# Further names of commands: the names of their functions.
NAMES = {name.replace("_", "-"): command for name, (command, _) in FUNCTIONS.items()
         if name not in (*COMMANDS, "profile")}


def option_of(command: str, name: str) -> Option | None:
    """The option of a command, or keyword of its function, by name; None if it is unknown."""
    return _TABLE.get((command, name)) or _TABLE.get(("", name))


def flag_of(command: str, name: str) -> str:
    """The name of an option of a command, or of its field in the library, in errors."""
    option = option_of(command, name)
    return f"--{name.replace('_', '-')}" if option is None else option.flag


@cache
def keywords_of(function: str) -> Mapping[str, Option]:
    """The keywords of a function of api.py."""
    command, names = FUNCTIONS[function]
    options = [option for name in names if (option := option_of(command, name)) is not None]
    return MappingProxyType({option.keyword or option.name: option for option in options})


def check_keywords(function: str, values: Mapping[str, Any]) -> None:
    """Raise TypeError for an unknown keyword of a function of api.py."""
    known = keywords_of(function)
    unknown = sorted(values.keys() - known.keys())
    if unknown:
        close = closest(unknown[0], known)
        raise TypeError(f"there is no option {', '.join(unknown)}" + (f" (did you mean {close!r}?)" if close else ""))


def parsed(values: Mapping[str, Any], command: str) -> dict[str, Any]:
    """The options of a command, by the names and in the units of the library; None means unset. Names that are not in
    the table stay as they are. Raises InputError."""
    found = {}
    for name, value in values.items():
        option = option_of(command, name)
        if value is not None:
            found[name if option is None else option.field] = value if option is None else option.parsed(value)
    return found
