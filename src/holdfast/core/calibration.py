"""What a model's own counts say about our estimates (CO2).

Every answer of a provider tells how many tokens the request really was. That count holds more than the history (the
tools' definitions, the provider's framing), so a line is fitted, not a ratio: tokens = ratio x estimate + overhead.
The fit is Theil and Sen's: the median slope between pairs, which a few wrong reports cannot move.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from statistics import median
from typing import Any

SAMPLES_PER_MODEL = 9
MODELS_KEPT = 8
LOWEST_RATIO, HIGHEST_RATIO = 0.5, 3.0
MOST_OVERHEAD = 64_000
LEAST_DISTANCE = 0.1
"""Two samples say something about the slope only if their estimates differ by this share."""

Sample = tuple[int, int]
"""Our estimate, and the tokens that the provider counted."""


@dataclass(frozen=True, slots=True)
class Line:
    ratio: float = 1.0
    overhead: float = 0.0


@lru_cache(maxsize=64)
def _fitted(samples: tuple[Sample, ...]) -> Line:
    if not samples:
        return Line()
    slopes = [
        (later[1] - earlier[1]) / (later[0] - earlier[0])
        for index, earlier in enumerate(samples)
        for later in samples[index + 1 :]
        if abs(later[0] - earlier[0]) > LEAST_DISTANCE * max(later[0], earlier[0])
    ]
    # One size alone cannot tell ratio from overhead: take it for a ratio, the cautious reading for what is to come.
    slope = median(slopes) if slopes else median(counted / estimated for estimated, counted in samples)
    ratio = min(HIGHEST_RATIO, max(LOWEST_RATIO, slope))
    overhead = median(counted - ratio * estimated for estimated, counted in samples)
    return Line(ratio, min(MOST_OVERHEAD, max(0.0, overhead)))


@dataclass(frozen=True, slots=True)
class Calibration:
    """The latest reports of each model; a value, replaced by every report."""

    samples: Mapping[str, tuple[Sample, ...]] = field(default_factory=dict)

    def observe(self, model: str, estimated: int, counted: int) -> Calibration:
        """One more report; nonsense (nothing sent, nothing counted) is left out."""
        if estimated <= 0 or counted <= 0:
            return self
        # The model reported last stands last, so that the one unused for longest is the one dropped.
        others = {name: kept for name, kept in self.samples.items() if name != model}
        kept = (*self.samples.get(model, ()), (estimated, counted))[-SAMPLES_PER_MODEL:]
        names = list(others)[-(MODELS_KEPT - 1) :]
        return Calibration({**{name: others[name] for name in names}, model: kept})

    def line(self, model: str) -> Line:
        """The model's line; without reports the estimate stands as it is."""
        return _fitted(self.samples.get(model, ()))

    def apply(self, model: str, estimated: int) -> int:
        """The estimate in the model's own tokens."""
        line = self.line(model)
        return round(line.ratio * estimated + line.overhead)

    def to_json(self) -> dict[str, Any]:
        return {model: [list(sample) for sample in samples] for model, samples in self.samples.items()}

    @classmethod
    def from_json(cls, data: object) -> Calibration:
        """What `to_json` gave; anything else is an empty calibration, because it only ever refines."""
        if not isinstance(data, Mapping):
            return cls()
        kept = {
            str(model): tuple(
                (sample[0], sample[1])
                for sample in samples
                if isinstance(sample, list | tuple) and len(sample) == 2 and type(sample[0]) is type(sample[1]) is int
            )
            for model, samples in data.items()
            if isinstance(samples, list | tuple)
        }
        return cls({model: samples for model, samples in kept.items() if samples})
