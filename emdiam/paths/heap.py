"""A binary heap in which a vertex is once, and moves up as its distance falls: `place` says where it is.

heap : int64[n], vertices. place : int64[n], where in the heap each is; below 0 where it is not. Source: Williams,
Algorithm 232 (1964).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..jit import inlined

Sift = Callable[..., Any]


def heap_of(before: Sift) -> tuple[Sift, Sift]:
    """(sift_up, sift_down) of a heap in this order. before(v, w, keys) : whether v comes before w, compiled.

    sift_up(v, at, keys, heap, place) puts v, which may come before others, at the place `at` or above it.
    sift_down(v, size, keys, heap, place) puts v at the top of a heap of so many vertices, or below it."""

    @inlined
    def sift_up(v, at, keys, heap, place):
        while at:
            above = (at - 1) >> 1
            if not before(v, heap[above], keys):
                break
            heap[at] = heap[above]
            place[heap[at]] = at
            at = above
        heap[at] = v
        place[v] = at

    @inlined
    def sift_down(v, size, keys, heap, place):
        at = 0
        while 2 * at + 1 < size:
            below = 2 * at + 1
            if below + 1 < size and before(heap[below + 1], heap[below], keys):
                below += 1
            if not before(heap[below], v, keys):
                break
            heap[at] = heap[below]
            place[heap[at]] = at
            at = below
        heap[at] = v
        place[v] = at

    return sift_up, sift_down


@inlined
def _nearer(v, w, distances):
    return distances[v] < distances[w]


sift_up, sift_down = heap_of(_nearer)


@inlined
def push(v, size, distances, heap, place):
    """Put v, whose distance has fallen, where it belongs in a heap of so many vertices, the nearest at the top; how
    many there are then."""
    at = place[v]
    if at < 0:
        at = size
        size += 1
    sift_up(v, at, distances, heap, place)
    return size
