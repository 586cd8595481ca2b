"""The help of commands: short with --help, complete and in groups with --help-all.

The short help has the purpose of a command, its most used options, and two examples. Tests run all examples in one
folder, from the first command to the last. scripts/make_man_pages.py makes the man pages from the same tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import click

from ..runs.options import COMMANDS, NAMES

Row = tuple[str, str]

# The groups of options of all commands, with the names of their options; all others are in the first group.
ANSWER = "Answer"
SECTIONS = {
    "Input": ("fmt", "ids", "columns", "header", "encoding", "bipartite", "weights", "allow_negative"),
    "Method": ("masters", "seed", "seeds", "euler", "levels", "iterations", "batches", "batch", "winnow", "eliminate",
               "chains", "start", "order", "first", "k", "direction"),
    "Memory, disk and threads": ("memory", "arena", "threads", "vertex_state", "scratch", "codec", "chunk", "force",
                                 "reorder", "keep_reordered", "evict_page_cache"),
    "GPU": ("device", "vram", "bfs", "mapping"),
    "Workers": ("workers", "scheduler", "worker_memory", "worker_threads", "dashboard"),
    "Checkpoint": ("checkpoint", "checkpoint_every", "resume", "keep_checkpoint", "retry"),
    "Output": ("as_json", "as_csv", "verbose", "quiet", "log_interval", "events", "plots"),
}
# Options in the short help; for commands of `generate`, options of the class come first.
SHOWN = {name: tuple(options.split()) for name, options in {
    "convert": "memory fmt columns ids weights directed force as_json",
    "apply": "add remove strict memory fmt weights force as_json",
    "reorder": "order memory scratch force as_json",
    "info": "check components profile locality as_json",
    "plan": "method memory threads no_probe as_json",
    "exact": "memory certificate weighted weight directed time_limit checkpoint as_json",
    "approx": "method masters memory weighted weight time_limit checkpoint as_json",
    "ecc": "out center memory weighted weight directed time_limit as_json",
    "distances": "sample exact hyperball out memory directed as_json",
    "sssp": "source target weighted weight out method memory as_json",
    "apsp": "out weighted weight method memory force as_json",
    "tradeoff": "out methods masters seeds exact memory retry as_json",
    "verify": "memory threads as_json",
    "generate": "vertices seed weights memory force as_json",
    "batch": "out memory parallel dry_run keep_going retry as_json",
    "report": "out wanted as_json",
    "warmup": "everything as_json",
}.items()}
EXAMPLES = {
    "convert": ("emdiam convert edges.txt graph.zarr", "emdiam convert 'part-*.csv' roads.zarr --weights=km"),
    "apply": ("emdiam apply graph.zarr more.zarr --add edges.txt",
              "emdiam apply graph.zarr fewer.zarr --remove edges.txt --strict"),
    "reorder": ("emdiam reorder graph.zarr near.zarr --order cluster",
                "emdiam reorder graph.zarr hubs.zarr --order degree --memory 4GiB"),
    "info": ("emdiam info graph.zarr", "emdiam info graph.zarr --check"),
    "plan": ("emdiam plan graph.zarr", "emdiam plan graph.zarr --method pivots --memory 8GiB"),
    "exact": ("emdiam exact edges.txt", "emdiam exact graph.zarr --memory 4GiB --certificate proof.json"),
    "approx": ("emdiam approx graph.zarr", "emdiam approx graph.zarr --masters 2,4 --memory 4GiB"),
    "ecc": ("emdiam ecc graph.zarr --out ecc.csv", "emdiam ecc graph.zarr --center"),
    "distances": ("emdiam distances graph.zarr", "emdiam distances graph.zarr --exact --out centralities.csv"),
    "sssp": ("emdiam sssp roads.zarr --source 1 --target 4", "emdiam sssp roads.zarr --source 1 --out paths.csv"),
    "apsp": ("emdiam apsp roads.zarr --out matrix.zarr", "emdiam apsp roads.zarr --out matrix.zarr --force"),
    "tradeoff": ("emdiam tradeoff graph.zarr --out tradeoff --methods sweep --no-plots",
                 "emdiam tradeoff graph.zarr --out tradeoff --methods sweep --no-plots --retry"),
    "verify": ("emdiam verify proof.json graph.zarr", "emdiam verify proof.json graph.zarr --json"),
    "generate": ("emdiam generate grid grid.zarr --sides 20x30", "emdiam generate rmat web.zarr --vertices 2^10"),
    "batch": ("emdiam batch jobs.toml --out night --dry-run", "emdiam batch jobs.toml --out night"),
    "report": ("emdiam report night -o report.html", "emdiam report night --format md"),
    "warmup": ("emdiam warmup", "emdiam warmup --all"),
}
# Options of all classes of graphs; only some have `vertices`.
SHARED_OF_CLASSES = frozenset(COMMANDS["generate"]) - {"vertices"}
_LONGEST_METAVAR, _LONGEST_CHOICES = 28, 76
# The end of a sentence, which excludes "e.g. 4GiB"; and the notes of click and the table on defaults.
_SENTENCE_END = r"\. (?=[A-Z])|; |:? +\[(?=default|required|x)"


def options_of(command: click.Command, context: click.Context) -> list[click.Option]:
    """The options of a command, without the options for help."""
    return [one for one in command.get_params(context)
            if isinstance(one, click.Option) and not {"--help", "--help-all"} & set(one.opts)]


def grouped(command: click.Command, context: click.Context) -> Iterator[tuple[str, list[click.Option]]]:
    """The nonempty option groups of a command, with their options."""
    options = options_of(command, context)
    listed = {name for names in SECTIONS.values() for name in names}
    first = [one for one in options if one.name not in listed]
    for title, group in ((ANSWER, first), *(
            (title, [one for one in options if one.name in names]) for title, names in SECTIONS.items())):
        if group:
            yield title, group


def write_all(command: click.Command, context: click.Context, formatter: click.HelpFormatter) -> None:
    """Write all options, in their groups."""
    for title, options in grouped(command, context):
        with formatter.section(title):
            formatter.write_dl([_row(one, context) for one in options if not one.hidden])


def write_short(command: click.Command, context: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the most used options, two examples, and a pointer to the others."""
    names = names_of(context)
    with formatter.section("Options"):
        formatter.write_dl([*(_short_row(one, context) for one in shown(command, context, names[0])),
                            ("--help-all", "Show all options."), ("-h, --help", "Show this message and exit.")])
    write_examples(names, formatter)


def write_examples(names: Sequence[str], formatter: click.HelpFormatter) -> None:
    """Write the examples of a command, or of one of `generate`."""
    examples = [one for one in EXAMPLES.get(names[0], ()) if len(names) == 1 or one.split()[2] == names[1]]
    if examples:
        with formatter.section("Examples"):
            formatter.write("".join(f"  {example}\n" for example in examples))


def shown(command: click.Command, context: click.Context, name: str) -> list[click.Option]:
    """The options of the short help, in the order of the table, after required options and options of a class of
    graphs. name : of the command, or of its group."""
    options = {one.name: one for one in options_of(command, context)}
    first = [one for one in options.values()
             if one.required or (name == "generate" and one.name not in SHARED_OF_CLASSES)]
    return [*first, *(options[one] for one in SHOWN.get(name, ()) if one in options and options[one] not in first)]


def names_of(context: click.Context) -> list[str]:
    """The words of a command behind "emdiam", without its arguments: ["generate", "rmat"], with its main name; only its
    own name outside a group."""
    first, *others = context.command_path.split()[1:] or [str(context.command.name)]
    return [NAMES.get(first, first), *others]


def _row(option: click.Option, context: click.Context, longest: int = _LONGEST_CHOICES) -> Row:
    """The option with its help. Longer choices follow the text, since no line breaks inside them."""
    names, text = option.get_help_record(context) or ("", "")
    if len(names) > longest and "[" in names:
        names, _, choices = names.partition("[")
        return f"{names}NAME", f"{text} One of: {choices.rstrip(']').replace('|', ', ')}."
    return names, text


def _short_row(option: click.Option, context: click.Context) -> Row:
    """The option with the first sentence of its help."""
    names, text = _row(option, context, _LONGEST_METAVAR)
    first = re.split(_SENTENCE_END, text)[0].rstrip(".")
    if first.count("(") > first.count(")"):  # the sentence ends inside brackets
        first = first.rpartition(" (")[0]
    return names, f"{first}."
