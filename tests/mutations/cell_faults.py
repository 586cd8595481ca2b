"""Faults of chains, of pairs and BFS beside each other, of one BFS, of cells and of the interval of the mean."""

from __future__ import annotations

from tests.mutations.fault import Fault

_CHAINS = ("tests/methods/eccentricity/test_chains.py",)
_PAIRS = ("tests/methods/eccentricity/test_pairs.py",)
_MEAN = ("tests/certificates/test_mean.py",)

CELL_FAULTS = (
    # -- chains --
    Fault("a chain forgets what is nearer to its other end", "emdiam/methods/eccentricity/chains.py",
          "        if cut > 0:\n", "        if cut > 2 * apart:\n", _CHAINS),
    Fault("the cycle that a chain closes is too short", "emdiam/methods/eccentricity/chains.py",
          "half = (length + apart) // 2", "half = length // 2", _CHAINS),
    Fault("the verifier forgets the way over the end p", "emdiam/certificates/chains.py",
          "            found[i - 1] = i + farthest\n", "            found[i - 1] = 0\n", _CHAINS),
    # -- an interval of the mean --
    Fault("a mean is not rounded in favour of the lower bound", "emdiam/certificates/mean.py",
          "max(two, apart - 1)", "max(two, apart + (1 << 14))", _MEAN),
    Fault("the verifier takes any sum for an upper bound", "emdiam/certificates/mean.py",
          "        if claims.sum_upper < most:\n", "        if claims.sum_upper < least:\n", _MEAN),
    Fault("a cell is left out where all are added up", "emdiam/distribution/certified.py",
          "        for b in range(a + 1, cells):\n            low +=",
          "        for b in range(a + 2, cells):\n            low +=", _MEAN),
    Fault("a vertex is lost where a cell is halved", "emdiam/certificates/cells.py",
          "            order[low] = order[high]\n", "            order[low] = v\n", _MEAN),
    Fault("of distances side by side the last counts", "emdiam/methods/eccentricity/pairs.py",
          "least = min(least, cast(a + min(second[i], cast(top - a))))",
          "least = cast(a + min(second[i], cast(top - a)))", _PAIRS),
    Fault("a sum that does not fit is the largest value that does", "emdiam/methods/eccentricity/pairs.py",
          "out[count, 2] = way if way < top else _UNKNOWN", "out[count, 2] = way",
          ("tests/methods/eccentricity/test_pairs.py",)),
    Fault("sums that are too large begin at zero again", "emdiam/methods/eccentricity/pairs.py",
          "cast(a + min(second[i], cast(top - a)))", "cast(a + second[i])", _PAIRS),
    Fault("a BFS beside others counts two levels as one", "emdiam/traverse/side_by_side.py",
          "        while head < last:\n", "        while head < tail:\n", ("tests/traverse/test_side_by_side.py",)),
    Fault("rows for whose heads a queue has no room are left out", "emdiam/traverse/bfs_whole.py",
          "        if row < part[1]:\n", "        if row < 0:\n", ("tests/traverse/test_bfs_whole.py",)),
    Fault("a BFS that begins with wide distances has no vertex to reach", "emdiam/traverse/bfs.py",
          "(1 << 8 * learned.item) - 1", "255", ("tests/traverse/test_bfs_whole.py",)),
)
