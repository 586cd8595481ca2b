"""Planted faults in traversals of graphs that are in memory."""

from __future__ import annotations

from tests.mutations.fault import Fault

_WHOLE = ("tests/traverse/test_bfs_whole.py",)

MEMORY_FAULTS = (
    Fault("what threads have in their buffers when a level in memory ends is lost", "emdiam/traverse/bfs_whole.py",
          "    hand_over(buffer, count, there, shared)\n", "", _WHOLE),
    Fault("the farthest vertex of a level in memory is any of the first word", "emdiam/traverse/bfs_whole.py",
          "(word << 6) + count_trailing_zeros(bitmap[word])", "word << 6", _WHOLE),
    Fault("bits of an earlier level stay in the next frontier", "emdiam/traverse/bfs_whole.py",
          "        fronts[1 - front[WHICH]][:] = 0\n", "        pass\n", _WHOLE),
    Fault("a level in memory that goes up looks at the rows of arcs out", "emdiam/traverse/bfs_whole.py",
          "return climb(up, ", "return climb(down, ", ("tests/engine/test_directed.py",)),
    Fault("vertices that a short queue in memory has no room for are lost", "emdiam/traverse/bfs_whole.py",
          "visited[word] & ~fronts[0, word]", "np.uint64(0)", _WHOLE),
)
