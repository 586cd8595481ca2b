"""A build makes the pages of `man` and takes them as the wheel's data; all else is in setup.cfg."""

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


setup(cmdclass={"build": BuildWithManPages})
