"""The Dask engine: all verbs of emdiam.engine.interface.Engine over workers."""

from __future__ import annotations

from .label_engine import LabelVerbs
from .recovery import recovering
from .values import ValueVerbs


@recovering
class DaskEngine(ValueVerbs, LabelVerbs):
    """Engine over a Group; see BaseEngine."""
