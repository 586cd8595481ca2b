"""python -m bench.papers.fetch [NAME...]: bring the papers' real graphs into a folder, for python -m bench.papers.

A download that was cut short goes on where it was (HTTP ranges, only if the server still has the same file). Its
SHA-256 is compared with the published one; where none is published it is written to checksums.json when the file comes
first, and every later download or --check is compared with that: trust on first use, which finds damage and change,
not a file that was wrong from the start. Nothing is downloaded without this command.
"""

from __future__ import annotations

import argparse
import hashlib
import http.client
import json
import os
import shutil
import sys
import tarfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from emdiam.errors import InputError

from .sources import SOURCES, Source

CHECKSUMS = "checksums.json"
_CHUNK, _PATIENCE, _ATTEMPTS = 1 << 20, 60.0, 6
_AGENT = {"User-Agent": "emdiam-bench"}
# What ends one attempt, after which the next goes on where it was.
_CUT = (urllib.error.URLError, http.client.HTTPException, TimeoutError, ConnectionError)


def main(arguments: Sequence[str] | None = None) -> int:
    """0, or 2 with a sentence."""
    parser = argparse.ArgumentParser(prog="python -m bench.papers.fetch", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="graphs by their names in the papers (default: those"
                                                                 " of --paper)")
    parser.add_argument("--paper", choices=sorted({one.paper for one in SOURCES}), help="all graphs of this paper")
    parser.add_argument("--to", type=Path, metavar="DIR", default=Path(__file__).resolve().parents[1] / ".graphs",
                        help="folder (default: bench/.graphs)")
    parser.add_argument("--list", action="store_true", help="only say what there is, and what is here")
    parser.add_argument("--check", action="store_true", help="only compare what is here with checksums.json")
    given = parser.parse_args(arguments)
    try:
        wanted = chosen(given.names, given.paper)
        if given.list:
            for one in wanted or SOURCES:
                print(f"{one.paper} {one.name}: {one.url}{' (here)' if (given.to / one.file).is_file() else ''}")
            return 0
        if given.check:
            return _check(given.to)
        if not wanted:
            raise InputError("nothing is named", remedy="give names of graphs or --paper, or see --list")
        for one in wanted:
            print(f"{one.name}: {fetch(one, given.to, lambda text: print(text, file=sys.stderr))}")
    except InputError as error:
        print(f"Error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def chosen(names: Sequence[str], paper: str | None) -> list[Source]:
    """The sources of these names, of this paper. Raises InputError for a name that there is not."""
    found = [one for one in SOURCES if (not names or one.name in names) and (paper is None or one.paper == paper)]
    missing = set(names) - {one.name for one in found}
    if missing:
        raise InputError("there is no such graph", text=sorted(missing)[0], remedy="see --list")
    return found if names or paper else []


def fetch(source: Source, folder: Path, tell: Callable[[str], None] = lambda _: None,
          sleep: Callable[[float], None] = time.sleep) -> str:
    """Bring one graph into the folder; says what was done. Raises InputError where it cannot be had, or is not what it
    was."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / source.file
    if target.is_file():
        return f"is here ({target})"
    partial = folder / (Path(source.url).name + ".partial")
    for attempt in range(_ATTEMPTS):
        try:
            _download(source.url, partial)
            break
        except urllib.error.HTTPError as error:
            raise InputError(f"the server answers {error.code} {error.reason}", text=source.url,
                             remedy="see the collection's page for its new place") from None
        except _CUT as error:
            if attempt + 1 == _ATTEMPTS:
                raise InputError(f"the download was cut short {_ATTEMPTS} times ({error})", text=source.url,
                                 remedy="give the same command again: it goes on") from None
            tell(f"{source.name}: cut short at {_size(partial):,} bytes ({error}); going on")
            sleep(2.0**attempt)
    how = _verified(source, partial, folder)
    _keep(source, partial, target)
    return f"{target} ({how})"


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _download(url: str, partial: Path) -> None:
    """Append to `partial` what is missing of the file; from the start, if the server has another one or no ranges."""
    note = partial.with_suffix(".from")
    known = json.loads(note.read_text()) if note.exists() else {}
    begin = _size(partial) if known.get("url") == url and known.get("validator") else 0
    headers = dict(_AGENT)
    if begin:
        headers |= {"Range": f"bytes={begin}-", "If-Range": known["validator"]}
    try:
        answer = urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=_PATIENCE)
    except urllib.error.HTTPError as error:
        if error.code == 416 and begin and begin == known.get("size"):  # nothing was missing
            return
        if error.code != 416:
            raise
        partial.unlink()
        raise ConnectionError("the server has less than was there") from None
    with answer:
        if begin and answer.status != 206:
            begin = 0
        size = _whole_size(answer, begin)
        etag = answer.headers.get("ETag") or ""
        # Only a strong validator says that bytes are the same.
        validator = etag if etag and not etag.startswith("W/") else answer.headers.get("Last-Modified") or ""
        note.write_text(json.dumps({"url": url, "validator": validator, "size": size}))
        with open(partial, "r+b" if begin else "wb") as out:
            out.seek(begin)
            shutil.copyfileobj(answer, out, _CHUNK)
            out.flush()
            os.fsync(out.fileno())
    if size is not None and _size(partial) != size:
        raise ConnectionError(f"{_size(partial):,} of {size:,} bytes came")


def _whole_size(answer: Any, begin: int) -> int | None:
    """Bytes of the whole file, None if the server does not say."""
    if answer.status == 206:
        content = answer.headers.get("Content-Range", "")
        if not content.startswith(f"bytes {begin}-"):
            raise ConnectionError(f"the server sent another range: {content}")
        whole = content.rpartition("/")[2]
        return int(whole) if whole.isdigit() else None
    length = answer.headers.get("Content-Length")
    return None if length is None else int(length)


def digest(file: Path) -> str:
    """SHA-256 of a file."""
    with open(file, "rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def checksums(folder: Path) -> dict[str, str]:
    """What was recorded: name of the download, or of the file kept of an archive, to SHA-256."""
    file = folder / CHECKSUMS
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else {}


def _record(folder: Path, name: str, found: str) -> None:
    known = {**checksums(folder), name: found}
    fresh = folder / (CHECKSUMS + ".new")
    fresh.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    fresh.replace(folder / CHECKSUMS)


def _verified(source: Source, partial: Path, folder: Path) -> str:
    """How the download was verified. Raises InputError if it is not what it has to be; it is removed then."""
    name, found = Path(source.url).name, digest(partial)
    expected = source.sha256 or checksums(folder).get(name, "")
    if expected and found != expected:
        partial.unlink()
        partial.with_suffix(".from").unlink(missing_ok=True)
        which = "published" if source.sha256 else f"recorded in {CHECKSUMS}"
        raise InputError(f"the file of {source.name} is not the one {which}: SHA-256 {found}, not {expected}",
                         text=source.url, remedy="fetch it again; if it has changed for good, drop its line there")
    if not expected:
        _record(folder, name, found)
    if source.sha256:
        return "as published"
    return "as recorded" if expected else "SHA-256 recorded, nobody has published one"


def _keep(source: Source, partial: Path, target: Path) -> None:
    """Put the download, or the member of its archive, in its place."""
    if source.member:
        made = target.with_name(target.name + ".new")
        try:
            with tarfile.open(partial) as archive:
                member = archive.extractfile(source.member)
                assert member is not None
                with member, open(made, "wb") as out:
                    shutil.copyfileobj(member, out, _CHUNK)
        except (KeyError, tarfile.TarError, EOFError, OSError) as error:
            raise InputError(f"the archive of {source.name} has no {source.member} ({error})", path=partial,
                             remedy="remove it and fetch it again") from None
        made.replace(target)
        _record(target.parent, source.file, digest(target))
        partial.unlink()
    else:
        partial.replace(target)
    partial.with_suffix(".from").unlink(missing_ok=True)


def _check(folder: Path) -> int:
    """Compare all files in the folder that have a recorded digest; 2 if one differs."""
    wrong = 0
    for name, expected in sorted(checksums(folder).items()):
        file = folder / name
        if file.is_file():
            same = digest(file) == expected
            wrong += not same
            print(f"{name}: {'as recorded' if same else 'NOT as recorded'}")
    return 2 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
