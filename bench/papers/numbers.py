"""Figures as texts."""

from __future__ import annotations

DASH = "-"


def short(value: float | None) -> str:
    """Three digits, or all of a whole number; a dash for None."""
    if value is None:
        return DASH
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}" if abs(value) >= 1e-4 else f"{value:.2e}"


def seconds(value: float | None) -> str:
    """Seconds with three decimals, fewer where they are many."""
    return DASH if value is None else f"{value:.3f}" if value < 100 else f"{value:,.0f}"


def share(value: float | None) -> str:
    """Per cent with two decimals."""
    return DASH if value is None else f"{100 * value:.2f} %"


def ratio(ours: float | None, theirs: float | None) -> str:
    """Ours / theirs; a dash where one is missing or theirs is 0."""
    return DASH if ours is None or not theirs else f"{ours / theirs:.2f}"


def count(value: int | None) -> str:
    """With thousands apart."""
    return DASH if value is None else f"{value:,}"
