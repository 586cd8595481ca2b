"""One planted fault: a passage of a source file, and what stands there instead."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Fault:
    """name : of the fault, in a few words. file : relative to the root of the repository. right : a passage that
    occurs once in it. wrong : what replaces it. tests : files of quick tests that are asked first, the others after."""

    name: str
    file: str
    right: str
    wrong: str
    tests: tuple[str, ...]

    @property
    def room(self) -> str:
        """The folder of the package that the file is in."""
        return Path(self.file).parts[1]

    def plant(self, root: Path) -> None:
        """Change the file below `root`. Raises ValueError if the passage is not there exactly once."""
        path = root / self.file
        text = path.read_text(encoding="utf-8")
        if text.count(self.right) != 1:
            raise ValueError(f"{self.name}: its passage occurs {text.count(self.right)} times in {self.file}")
        path.write_text(text.replace(self.right, self.wrong), encoding="utf-8")
