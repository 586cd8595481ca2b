"""Faults of budgets: the least memory that is named would not work, or a run would not begin again."""

from __future__ import annotations

from tests.mutations.fault import Fault

BUDGET_FAULTS = (
    Fault("the least memory leaves out wider columns and components", "emdiam/stream/plan.py",
          "    works = need + reserve - sure + pool.of_parts\n", "    works = need\n",
          ("tests/stream/test_reserve.py",)),
    Fault("bounds are never larger than the longest distance", "emdiam/stream/plan.py",
          "largest = 2 * self.longest + _BEYOND", "largest = self.longest", ("tests/stream/test_reserve.py",)),
    Fault("a reserve that was found to be too small is planned again", "emdiam/stream/reserve.py",
          "reserve_bytes=self._taken + n_bytes)", "reserve_bytes=0)", ("tests/stream/test_reserve.py",)),
    Fault("no run begins again", "emdiam/engine/attempts.py",
          "error.known is None or self._count == MOST", "error.known is None or self._count <= MOST",
          ("tests/engine/test_attempts.py", "tests/runs/test_vertex_state.py")),
    Fault("attempts in memory go on where vertex state may be on disk", "emdiam/runs/opening.py",
          "known_on(store).attempts < IN_MEMORY", "known_on(store).attempts >= 0", ("tests/runs/test_least.py",)),
    Fault("the plan forgets what the probe has seen", "emdiam/runs/plan.py",
          "known = Known(longest, probe.connected or said.connected)", "known = said", ("tests/runs/test_least.py",)),
    Fault("a refused order names what its first stage takes", "emdiam/conversion/reorder.py",
          "least = max(refusal.least_bytes for", "least = min(refusal.least_bytes for", ("tests/runs/test_least.py",)),
    Fault("components of a weighted graph take nothing", "emdiam/runs/weights.py",
          "beyond = COMPONENT_BYTES * max(0, count - self._known.components)", "beyond = 0 * count",
          ("tests/methods/weighted/test_diameter.py",)),
    Fault("large separators are in no budget that is named", "emdiam/paths/pairs/plan.py",
          'if method.name == "separators" else 0', 'if method.name == "none" else 0',
          ("tests/paths/pairs/test_run.py",)),
    Fault("strips of a few rows take more than there is", "emdiam/paths/pairs/plan.py",
          "rest // 4 // max(1, _strip_bytes(n, item, 1))", "rest // 4 // max(1, n * item)",
          ("tests/paths/pairs/test_run.py",)),
    Fault("a proof of all eccentricities names no memory for pairs", "emdiam/certificates/eccentricities.py",
          "budget.later_bytes = self._later_bytes(len(certificate.sources))", "budget.later_bytes = 0",
          ("tests/certificates/test_eccentricities.py",)),
    Fault("clusters are planned for one component", "emdiam/methods/approx/clusters.py",
          "    most = _expected(options, n) + most_parts(store)\n", "    most = _expected(options, n) + 1\n",
          ("tests/methods/approx/test_many_components.py",)),
)
