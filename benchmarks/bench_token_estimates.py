"""Token estimates beside a real tokenizer: how far off, and how fast.

    python benchmarks/bench_token_estimates.py [--json] [KIND=GLOB ...]

Without arguments: the texts that the tests use. `KIND=GLOB` measures files of your own instead. Exits with 1 when an
estimate is off by more than a tenth.
"""

from __future__ import annotations

import argparse
import glob
import json
import sys
from pathlib import Path
from time import perf_counter

from holdfast.core.tokens import chars4, estimate
from holdfast.store.tokenizer import load

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

MOST_OFF = 0.10
SHORT = 300


def texts(arguments: list[str]) -> dict[str, str]:
    if not arguments:
        from token_texts import KINDS

        return {kind: make() for kind, make in KINDS.items()}
    found: dict[str, str] = {}
    for argument in arguments:
        kind, _, pattern = argument.partition("=")
        paths = sorted(glob.glob(pattern, recursive=True))  # noqa: PTH207 (patterns may be absolute)
        found[kind] = "".join(Path(path).read_text(encoding="utf-8", errors="replace") for path in paths)
    return found


def seconds(work, repeat: int) -> float:
    best = float("inf")
    for _ in range(5):
        start = perf_counter()
        for _ in range(repeat):
            work()
        best = min(best, (perf_counter() - start) / repeat)
    return best


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("texts", nargs="*", metavar="KIND=GLOB")
    options = parser.parse_args()
    count = load()
    rows = []
    for kind, text in texts(options.texts).items():
        tokens, size = count(text), len(text.encode())
        rows.append(
            {
                "kind": kind,
                "bytes": size,
                "tokens": tokens,
                "estimate_off": round(estimate(text) / tokens - 1, 3),
                "chars4_off": round(chars4(text) / tokens - 1, 3),
                "estimate_mb_s": round(size / 1e6 / seconds(lambda t=text: estimate(t), 20), 1),
                "tokenizer_mb_s": round(size / 1e6 / seconds(lambda t=text: count(t), 3), 1),
                "short_us": round(1e6 * seconds(lambda t=text[:SHORT]: estimate(t), 2000), 1),
            }
        )
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        print("kind       tokens   estimate  chars/4   MB/s  o200k MB/s  us per 300 characters")
        for row in rows:
            print(
                f"{row['kind']:10} {row['tokens']:6}   {row['estimate_off']:+7.1%}  {row['chars4_off']:+7.1%}"
                f"  {row['estimate_mb_s']:5.1f}  {row['tokenizer_mb_s']:10.1f}  {row['short_us']:9.1f}"
            )
    return 0 if all(abs(row["estimate_off"]) <= MOST_OFF for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
