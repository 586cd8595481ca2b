"""What a better approximation costs: a grid of runs on one store, as tables and plots."""

from __future__ import annotations

from .run import TradeoffOptions, tradeoff
from .summary import Tradeoff

__all__ = ["Tradeoff", "TradeoffOptions", "tradeoff"]
