"""Fit the weights of `holdfast.core.tokens` to o200k, and say how far off they are on texts they have not seen.

    python tools/fit_tokens.py english='/usr/share/doc/**/*.txt' python='/usr/lib/python3/**/*.py' ...

Each argument is a kind of text and a glob of files; `kind:3=...` lets a kind weigh three times as much. Files are read
in place and only the fitted numbers are printed. Needs rs-bpe (requirements/benchmark.txt).
"""

from __future__ import annotations

import glob
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path

from holdfast.core.tokens import FEATURES, features

SAMPLE_CHARS = 4000
SAMPLES_PER_FILE = 3
SAMPLES_PER_KIND = 150
ROUNDS = 3000

# Without a floor the fit would price long runs (base64, hashes, unusual scripts) at nothing.
FLOORS = {
    "bytes": 0.03, "digits": 0.12, "upper": 0.05, "punctuation": 0.05,
    "chinese": 0.6, "astral": 1.0, "full width": 0.5, "signs": 0.5,
}  # fmt: skip

Row = tuple[float, tuple[float, ...]]
"""Its weight, and its features per token: the fit wants their weighted sum to be 1."""


def samples(pattern: str, chance: random.Random) -> Iterator[str]:
    """Cuts of the files that match, the same for the same files."""
    paths = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 (patterns may be absolute)
    chance.shuffle(paths)
    for path in paths:
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        for _ in range(min(SAMPLES_PER_FILE, 1 + len(text) // (2 * SAMPLE_CHARS))):
            start = chance.randrange(max(1, len(text) - SAMPLE_CHARS))
            yield text[start : start + SAMPLE_CHARS]


def solve(rows: Sequence[Row]) -> list[float]:
    """Least squares of the relative error, by coordinate descent, no weight below its floor."""
    size = len(FEATURES)
    matrix = [[0.0] * size for _ in range(size)]
    target = [0.0] * size
    for weight, row in rows:
        for i, value in enumerate(row):
            if value:
                target[i] += weight * value
                for j in range(size):
                    matrix[i][j] += weight * value * row[j]
    floors = [FLOORS.get(name, 0.0) for name in FEATURES]
    found = [max(floor, 0.1) for floor in floors]
    for _ in range(ROUNDS):
        for i in range(size):
            if matrix[i][i] > 1e-9:
                rest = target[i] - sum(matrix[i][j] * found[j] for j in range(size)) + matrix[i][i] * found[i]
                found[i] = max(floors[i], rest / matrix[i][i])
    return found


def main(arguments: Sequence[str]) -> int:
    encode = import_module("rs_bpe.bpe").openai.o200k_base().encode
    chance = random.Random(20)
    train: list[Row] = []
    held_out: dict[str, list[tuple[tuple[int, ...], int]]] = defaultdict(list)
    for argument in arguments:
        head, _, pattern = argument.partition("=")
        kind, _, weight = head.partition(":")
        counted = [(features(text), len(encode(text))) for text in samples(pattern, chance) if text.strip()]
        counted = counted[:SAMPLES_PER_KIND]
        held_out[kind] += counted[1::2]
        share = float(weight or 1) / max(1, len(counted[::2]))
        train += [(share, tuple(count / tokens for count in counts)) for counts, tokens in counted[::2] if tokens]
    if not train:
        print(__doc__)
        return 2
    found = solve(train)
    print(
        "WEIGHTS = (",
        *(f"    {value:.4f},  # {name}" for value, name in zip(found, FEATURES, strict=True)),
        ")",
        sep="\n",
    )
    print("\nheld out: kind, samples, error of the sum, mean error of one sample")
    for kind, rows in held_out.items():
        guesses = [sum(map(float.__mul__, found, map(float, counts))) for counts, _ in rows]
        total = sum(tokens for _, tokens in rows)
        mean = sum(abs(guess / tokens - 1) for guess, (_, tokens) in zip(guesses, rows, strict=True)) / max(
            1, len(rows)
        )
        print(f"{kind:14} {len(rows):4} {sum(guesses) / max(1, total) - 1:+7.1%} {mean:7.1%}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
