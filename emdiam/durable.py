"""What makes files and names outlive a power failure."""

from __future__ import annotations

import os
from pathlib import Path


def sync_path(path: Path) -> None:
    """Wait until the content of a file, or the new, renamed and removed names in a folder, is on disk. Raises
    OSError."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
