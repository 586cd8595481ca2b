"""A few attacks of every kind, and the campaign that counts them; the whole counts are a slow test."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.fuzz.__main__ import COUNTS
from tests.fuzz.campaign import campaign
from tests.fuzz.kinds import KINDS, PLANTED

FEW = {"inputs": 200, "readers": 60, "bvgraphs": 300, "corruptions": 20, "stores": 20, "certificates": 30,
       "proofs": 60, "checkpoints": 15}


def test_a_campaign_tells_every_outcome_apart():
    """Deaths and hangs too, after which it goes on with the next attack."""
    seed, count = 138, 9
    kinds = [random.Random(f"{PLANTED} {seed} {number}").randrange(7) for number in range(count)]
    assert set(kinds) == set(range(7))
    words = ("right", "refused", "wrong", "fault", "fault", "crash", "hang")
    tally = campaign(PLANTED, count, seed=seed, patience=3.0)
    assert tally.counts == Counter(words[kind] for kind in kinds)
    assert tally.n_bad == sum(kind >= 2 for kind in kinds) == len(tally.told)
    assert all(words[kinds[number]] == outcome.word for number, outcome in tally.told)


@pytest.mark.parametrize("kind", KINDS)
def test_a_few_attacks(kind: str):
    tally = campaign(kind, FEW[kind], seed=1)
    assert tally.counts.total() == FEW[kind]
    assert tally.n_bad == 0, tally.told
    assert tally.counts["right"] > 0 and tally.counts["refused"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_all_attacks(kind: str):
    tally = campaign(kind, COUNTS[kind], seed=2)
    assert tally.n_bad == 0, tally.told
