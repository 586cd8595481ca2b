"""Seeded graph generators: sources of edges with known facts, and `generate`, which writes a store.

`CLASSES` describes every class and its parameters without importing numba.
"""

from __future__ import annotations

from .make import CLASSES, GenerateReport, GraphClass, Parameter, generate, make_source

__all__ = ["CLASSES", "GenerateReport", "GraphClass", "Parameter", "generate", "make_source"]
