"""Input formats: one streaming reader per format behind the `EdgeSource` protocol.

`open_source` is the only entry point. Readers are imported on first use, so that listing the names of the formats (for
`--help`) loads neither numba nor pyarrow.
"""

from __future__ import annotations

from .registry import FORMATS, open_source

__all__ = ["FORMATS", "open_source"]
