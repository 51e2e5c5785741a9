"""The state machine of sealing under random interleavings of eight actors, each of which may die before any call:
never two live sessions in a chain, never an event after the seal, never anything lost, no turn or question cut."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from chain.sealing_world import KEYS, KINDS, World

ACTORS = 8
STEPS = 250


def alive(world):
    return [actor for actor in world.actors if not actor.done]


class Interleavings(RuleBasedStateMachine):
    """Hypothesis chooses every step, so that what it finds is short."""

    @initialize()
    def begin(self):
        self.world = World()

    @precondition(lambda self: len(alive(self.world)) < ACTORS)
    @rule(kind=st.sampled_from(KINDS), key=st.sampled_from(KEYS))
    def start(self, kind, key):
        self.world.actors = [*alive(self.world), self.world.run(kind, key)]

    @precondition(lambda self: alive(self.world))
    @rule(number=st.integers(0, ACTORS - 1), steps=st.integers(1, 6))
    def go_on(self, number, steps):
        actors = alive(self.world)
        for _ in range(steps):
            actors[number % len(actors)].step()
            self.world.holds()

    @precondition(lambda self: alive(self.world))
    @rule(number=st.integers(0, ACTORS - 1))
    def die(self, number):
        actors = alive(self.world)
        actors[number % len(actors)].crash()

    @rule(seconds=st.sampled_from([1.0, 31.0, 400.0]))
    def time_passes(self, seconds):
        self.world.now += seconds

    @rule()
    def finalising_fails(self):
        self.world.failing = not self.world.failing

    @invariant()
    def holds(self):
        if hasattr(self, "world"):
            self.world.holds()

    def teardown(self):
        if hasattr(self, "world"):
            self.world.settle()


Interleavings.TestCase.settings = settings(max_examples=60, stateful_step_count=50)
test_SC3_sealing_under_chosen_interleavings_and_crashes = Interleavings.TestCase


@settings(max_examples=60)
@given(seed=st.integers(0, 2**32), threads=st.integers(1, 2), crashes=st.sampled_from([0.0, 0.02, 0.1]))
def test_SC3_sealing_under_long_random_interleavings_and_crashes(seed, threads, crashes):
    """Eight actors at all times; a wide search for what the short one does not reach."""
    chance = random.Random(seed)
    world = World()
    for _ in range(STEPS):
        while len(alive(world)) < ACTORS:
            world.actors = [*alive(world), world.run(chance.choice(KINDS), chance.choice(KEYS[:threads]))]
        actor = chance.choice(alive(world))
        if chance.random() < crashes:
            actor.crash()
        else:
            actor.step()
        if chance.random() < 0.02:
            world.now += chance.choice([1.0, 31.0, 400.0])
        if chance.random() < 0.01:
            world.failing = not world.failing
        world.holds()
    world.settle()
