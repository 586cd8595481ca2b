"""python -m bench.gpu: check and time everything on this machine's GPU; a report as JSON and Markdown."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .parent import SMOKE, launcher, run_all, what_smokes
from .parts import PARTS
from .report import markdown, n_wrong
from .sizes import SIZES

RESULTS = Path(__file__).resolve().parents[1] / "results" / "gpu"
PREDICT_SCALE, MOST_SCALE = 20, 24


def _parts(text: str) -> list[str]:
    """Names of parts with commas, for argparse."""
    names = text.split(",")
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        raise argparse.ArgumentTypeError(f"no part {', '.join(unknown)}; choose from {', '.join(PARTS)}")
    return names


def _scale(text: str) -> int:
    """A scale to predict from, for argparse."""
    if not text.isdecimal() or not MOST_SCALE // 2 <= int(text) <= MOST_SCALE:
        raise argparse.ArgumentTypeError(f"a scale is {MOST_SCALE // 2} to {MOST_SCALE}: {text!r}")
    return int(text)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(prog="python -m bench.gpu", description=__doc__)
    made.add_argument("--device", default="gpu:0", metavar="gpu:N", help="which GPU (default: gpu:0)")
    made.add_argument("--only", type=_parts, metavar="PART,...", default=list(PARTS),
                      help=f"only these parts: {', '.join(PARTS)}")
    made.add_argument("--seconds", type=float, default=540.0, metavar="S",
                      help="time for all parts together (default: 540)")
    made.add_argument("--scale", choices=SIZES, default="full",
                      help="size of the inputs; toy is for the CPU (default: full)")
    made.add_argument("--out", type=Path, metavar="DIR",
                      help="folder for gpu.json, gpu.md, direction_table.json and rows (default: bench/results/gpu)")
    made.add_argument("--resume", action="store_true",
                      help="go on from the rows in DIR: parts and cells that are done are not run again")
    made.add_argument("--predict", type=_scale, nargs="?", const=PREDICT_SCALE, metavar="SCALE",
                      help="no GPU: what the cost model says, from frontiers of a Kronecker graph of this scale "
                      f"(default: {PREDICT_SCALE}); writes predicted.json and predicted.md")
    made.add_argument("--rehearse", type=int, nargs="?", const=0, metavar="SEED",
                      help="no GPU: all of it over the machine of fibres of the tests, ended at random moments; rows "
                      "are kept only in DIR")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run; 0, or 1 if a result was wrong, failed, or a part came to no end."""
    given = parser().parse_args(arguments)
    if given.rehearse is not None:
        return _rehearse(given)
    out = (given.out or RESULTS).resolve()
    out.mkdir(parents=True, exist_ok=True)
    if given.predict is not None:
        from .predict import write  # needs the engine of the CPU, which runs on a GPU do without

        print(write(out, given.predict))
        return 0
    about = {"device": given.device, "scale": given.scale, "seconds": given.seconds,
             "sizes": vars(SIZES[given.scale])}
    kept = run_all(given.only, given.seconds, launcher(given.device, given.scale, out), out, about, given.resume)
    print(markdown(kept))
    if SMOKE in kept["parts"] and (wrong := what_smokes(kept["parts"][SMOKE])):
        print(f"the smoke part failed, and no other was started: {wrong}", file=sys.stderr)
    return 1 if n_wrong(kept) else 0


def _rehearse(given: argparse.Namespace) -> int:
    """A rehearsal in the folder that is given, or one that goes; 0, or 1 with what went wrong."""
    from .rehearse import Rehearsal  # which needs the tests

    with tempfile.TemporaryDirectory() as folder:
        found = Rehearsal((given.out or Path(folder)).resolve(), given.only, given.rehearse, given.seconds).run()
    print(found.text())
    return 1 if found.faults else 0


if __name__ == "__main__":
    sys.exit(main())
