"""Faults of runs along weighted arcs, and of proofs along arcs."""

from __future__ import annotations

from tests.mutations.fault import Fault

ARC_FAULTS = (
    Fault("a vertex with several arcs is as far as its first head says", "emdiam/methods/directed/eccentricities.py",
          "        if ends[i + 1] - ends[i] == 1:\n", "        if ends[i + 1] - ends[i] >= 1:\n",
          ("tests/methods/directed/test_weighted.py",)),
    Fault("an eccentricity bounds those of other components from below", "emdiam/methods/directed/eccentricities.py",
          "self.lower[members] = np.maximum(self.lower[members], found)", "self.lower[members] = found",
          ("tests/methods/directed/test_weighted.py",)),
    Fault("distances to a vertex are those from it along weighted arcs", "emdiam/methods/directed/weighted.py",
          "return self.into if back else self.arcs", "return self.arcs", ("tests/methods/directed/test_weighted.py",)),
    Fault("a search within rooms goes on from vertices that are too far", "emdiam/paths/dijkstra.py",
          "if new <= room[u] and new < distances[u]:", "if new < distances[u]:",
          ("tests/methods/directed/test_weighted.py",)),
    Fault("a bound that has no room is claimed", "emdiam/methods/directed/sweep.py",
          "            self.metric.check_bound(self.bound)\n", "", ("tests/methods/directed/test_weighted.py",)),
    Fault("all arcs of a row are as long as the first", "emdiam/paths/arcs.py",
          "to_costs[places[i]] = costs[p]", "to_costs[places[i]] = costs[offsets[row]]",
          ("tests/methods/directed/test_weighted.py",)),
    Fault("a proof along arcs lets bounds leave a component", "emdiam/certificates/arcs.py",
          "        inside = self.numbers == self.numbers[vertex]\n        self.bounds",
          "        inside = column != _NONE\n        self.bounds", ("tests/certificates/test_arcs.py",)),
    Fault("a proof along arcs takes what a pivot of another component does not reach as not reached",
          "emdiam/certificates/arcs.py", "close = beyond if self.numbers[pivot] == self.numbers[vertex] else",
          "close = beyond if True else", ("tests/certificates/test_arcs.py",)),
    Fault("a proof along arcs takes labels that no arc fits", "emdiam/certificates/arcs.py",
          "reached != np.count_nonzero(found != none)", "reached < 0", ("tests/certificates/test_arcs.py",)),
    Fault("a proof along arcs takes the best component of heads for all", "emdiam/certificates/arcs.py",
          "most = max(most, least[numbers", "most = min(max(most, 1), least[numbers",
          ("tests/certificates/test_arcs.py",)),
    Fault("bounds by heads take the best component of heads for all", "emdiam/methods/directed/sweep.py",
          "most = max(most, np.int64(least[k]))", "most = min(max(most, 1), np.int64(least[k]))",
          ("tests/methods/directed/test_sweep.py",)),
    Fault("a component ends where the longest path to its root does", "emdiam/methods/directed/sweep.py",
          "leaving[c] = max(leaving[c], near[1, v] + min(most, none - near[1, v]))",
          "leaving[c] = max(leaving[c], min(most, none - near[1, v]))", ("tests/methods/directed/test_sweep.py",)),
    Fault("balls along arcs hand on to the heads of their rows", "emdiam/traverse/hyperball.py",
          "self._turned = core.reverse", "self._turned = core", ("tests/distribution/test_arc_balls.py",)),
)
