"""emdiam: exact and approximate diameters of graphs that fit neither in RAM nor in VRAM."""

from ._version import __version__

__all__ = ["__version__"]
