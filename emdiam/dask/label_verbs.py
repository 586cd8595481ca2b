"""Labels as asked of a rank: begun, grown, counted, read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..traverse.clusters import (
    farthest_in_groups,
    first_in_groups,
    halve,
    longest_label,
    replace_labels,
    restart_labels,
    tally_labels,
)
from ..traverse.labels import FOREVER, UNREACHED
from ..traverse.workspace import set_bits
from .column_verbs import drop_columns
from .component_verbs import first_of_parts, united
from .growth import GROWING, Growth
from .halo import own_ranks, ranks_of
from .label_kernels import count_distances, mark_unreached, place_range
from .rank import Part
from .reserved_arrays import virtual_column, virtual_zeros

GROWTH = "growth"
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


def _own(part: Part, key: int) -> np.ndarray:
    """Labels of this range, uint64[stop - first]: column `key`."""
    return part.values[key][part.own]


def begin_labels(part: Part, key: int, dropped: Sequence[int]) -> None:
    """Make the column `key` of labels, all unreached; the columns of the keys `dropped` are let go of."""
    drop_columns(part, dropped)
    part.values[key] = virtual_column(part.core.table.n_vertices, np.uint64, part.first, part.stop, int(UNREACHED))


def seed_labels(part: Part, key: int, masters: np.ndarray, first: int) -> None:
    """The masters get the distance 0 and the groups first, first + 1, ..., and wait."""
    part.objects.pop(GROWTH, None)
    labels, waiting = part.values[key], part.core.work.before
    own = np.flatnonzero((masters >= part.first) & (masters < part.stop))
    new = masters[own]
    labels[new] = (own + first).astype(np.uint64)
    waiting[part.own_words] = 0
    set_bits(waiting, new, len(new))


def restart_range(part: Part, key: int, base: np.ndarray, parts: np.ndarray, sources: np.ndarray) -> None:
    """Labels become (base[group] + distance, parts[group]), those of sources 0 and their number; all wait."""
    part.objects.pop(GROWTH, None)
    labels, waiting = part.values[key], part.core.work.before
    restart_labels(labels[part.own], base.astype(np.uint64), parts.astype(np.uint64))
    own = np.flatnonzero((sources >= part.first) & (sources < part.stop))
    labels[sources[own]] = own.astype(np.uint64)
    waiting[part.own_words] = ~part.core.table.isolated[part.own_words]


def grow_some(
    part: Part, key: int, width: int, limits: tuple[int | None, int | None], room: int
) -> tuple[str, int, int]:
    """Some rounds, on all ranks together, of the growth under way, or of a new one (width, limits = (most_rounds,
    most_blocks), room : see Growth): how it stands, the distance that comes next, rounds."""
    growth: Growth | None = part.objects.get(GROWTH)
    if growth is None:
        growth = part.objects[GROWTH] = Growth(part, part.values[key], width, *limits, room)
    how = growth.step()
    if how != GROWING:
        part.objects.pop(GROWTH)
    return how, growth.level if growth.level not in (None, FOREVER) else -1, growth.rounds


def any_lonely(part: Part, key: int) -> bool:
    """Whether a vertex of this range with an edge has no label."""
    return bool((_reached(part, key) != _ALL).any())


def _reached(part: Part, key: int) -> np.ndarray:
    """Bitmap of this range: reached, or without an edge."""
    bits = np.full(part.own_words.stop - part.own_words.start, _ALL, np.uint64)
    mark_unreached(_own(part, key), bits)
    bits |= part.core.table.isolated[part.own_words]
    return bits


def lonely_roots(part: Part, key: int) -> tuple[np.ndarray, np.ndarray]:
    """The vertices of this range that have the smallest rank of a component without a label, and their ranks."""
    seen = _reached(part, key)
    return first_of_parts(part, united(part, seen, 0), seen)


def tally_range(part: Part, key: int, n_groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels.tally of this range."""
    radii, sizes = np.zeros(n_groups, np.int64), np.zeros(n_groups, np.int64)
    tally_labels(_own(part, key), radii, sizes)
    return radii, sizes


def farthest_range(part: Part, key: int, radii: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Labels.farthest_members of this range, and their ranks, -1 where it has none."""
    found = np.full(len(radii), -1, np.int64)
    farthest_in_groups(_own(part, key), own_ranks(part), radii.copy(), found)
    return _with_ranks(part, found)


def first_range(part: Part, key: int, n_groups: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels.first_members of this range, and their ranks, -1 where it has none."""
    found = np.full(n_groups, -1, np.int64)
    first_in_groups(_own(part, key), own_ranks(part), found)
    return _with_ranks(part, found)


def _with_ranks(part: Part, found: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    ranks = np.full(len(found), -1, np.int64)
    there = found >= 0
    found[there] += part.first
    ranks[there] = ranks_of(part, found[there])
    return found, ranks


def longest_range(part: Part, key: int) -> int:
    """Largest distance in this range; 0 if there is none."""
    return int(longest_label(_own(part, key)))


def count_range(part: Part, key: int, longest: int) -> np.ndarray:
    """Vertices of this range by distance, unreached ones last, int64[longest + 2]."""
    counts = np.zeros(longest + 2, np.int64)
    count_distances(_own(part, key), counts)
    return counts


def places_range(part: Part, key: int, starts: np.ndarray) -> np.ndarray:
    """Labels.places of this range, id[stop - first]; starts : where each distance begins in it."""
    places = np.empty(part.stop - part.first, part.store.id_dtype)
    place_range(_own(part, key), starts.copy(), places)
    return places


def replace_range(part: Part, key: int, start: int, distances: np.ndarray) -> None:
    """Reached vertices of start, start + 1, ... get these distances (unsigned[k]); groups stay."""
    values = part.values[key][start : start + len(distances)]
    replace_labels(values, distances.astype(np.uint64), np.arange(len(distances), dtype=part.store.id_dtype))


def take_distances(part: Part, key: int, new: int, dropped: Sequence[int]) -> None:
    """The distances of the labels `key` as the column `new`, of uint32."""
    drop_columns(part, dropped)
    part.values[new] = virtual_zeros(part.core.table.n_vertices, np.uint32)
    halve(_own(part, key), part.values[new][part.own])
