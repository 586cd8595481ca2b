"""What setup.cfg cannot say: a build makes the pages of `man` and takes them as the wheel's data, and the addresses of
the project follow from the one of its repository, in codemeta.json."""

import json
import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build import build

ROOT = Path(__file__).resolve().parent


class BuildWithManPages(build):
    """Made of the command line's tables, so that they are those of this version."""

    def run(self) -> None:
        sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]
        from make_man_pages import write_pages

        pages = [str(path.relative_to(ROOT)) for path in write_pages(ROOT / "build" / "man")]
        self.distribution.data_files = [("share/man/man1", pages)]
        super().run()


def project_urls(repository: str) -> dict[str, str]:
    """The addresses that an index shows; none while the repository has only a placeholder."""
    if "example.org" in repository:
        return {}
    return {"Source": repository, "Issues": f"{repository}/issues", "Documentation": f"{repository}#readme",
            "Changelog": f"{repository}/blob/main/CHANGELOG.md"}


if __name__ == "__main__":  # as builds run it; tests import it
    record = json.loads((ROOT / "codemeta.json").read_text(encoding="utf-8"))
    setup(cmdclass={"build": BuildWithManPages}, project_urls=project_urls(record["codeRepository"]))
