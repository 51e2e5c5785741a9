"""A command that prints 1 GB (TR7): kept on disk with previews, lines, bytes and SHA-256, beside `cat | cat > file`.

`bench_truncate_1gb.py [--mb N] [--rounds N]`. The two take turns, each pair is compared, and the median
pair counts: on a busy machine single runs say little.
"""

import argparse
import json
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from holdfast.store.outputs import OutputStore
from holdfast.store.sqlite import SqliteStore
from holdfast.store.streaming_capture import StreamingCapture

MEMORY_LIMIT_MB = 64
TIME_LIMIT = 2.0


def make_output(path: Path, megabytes: int) -> None:
    block = b"".join(b"line %07d: the quick brown fox jumps over it\n" % number for number in range(22_000))
    with path.open("wb") as file:
        for _ in range((megabytes << 20) // len(block) + 1):
            file.write(block)


def rival(source: Path, folder: Path) -> float:
    target = folder / "rival"
    began = time.perf_counter()
    subprocess.run(["sh", "-c", f"cat '{source}' | cat > '{target}'"], check=True, timeout=600)
    took = time.perf_counter() - began
    target.unlink()
    return took


def capture(source: Path, folder: Path) -> dict:
    """In a process of its own, so that its memory can be measured."""
    done = subprocess.run(
        [sys.executable, __file__, "--capture", str(source), str(folder)], capture_output=True, check=True, timeout=600
    )
    return json.loads(done.stdout)


def capture_here(source: Path, folder: Path) -> dict:
    store = SqliteStore(folder / "holdfast.db", audit_dir=folder / "audit")
    outputs = OutputStore(folder / "outputs", store)
    vault = folder / "vault"
    vault.mkdir(exist_ok=True)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    command = subprocess.Popen(["cat", str(source)], stdout=subprocess.PIPE)
    taken = StreamingCapture(lambda: outputs.open_stream(vault, "2026-01-01", "bash", f"call-{time.time_ns()}"))
    assert taken.drain(command.stdout.fileno(), seconds=600)
    found = taken.finish()
    command.stdout.close()
    command.wait(timeout=60)
    took = time.perf_counter() - began
    assert found.kept is not None
    assert found.kept.sha256
    hashed = time.perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert found.kept.size == found.size == source.stat().st_size
    found.kept.path.unlink()
    store.close()
    return {"seconds": took, "hashed": hashed, "memory_mb": memory / 1024, "lines": found.lines}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mb", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    chosen = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="holdfast-bench-"))
    try:
        source = folder / "source"
        make_output(source, chosen.mb)
        rivals, ours = [], []
        for _ in range(chosen.rounds):
            rivals.append(rival(source, folder))
            ours.append(capture(source, folder))
    finally:
        shutil.rmtree(folder)
    theirs = statistics.median(rivals)
    mine = statistics.median(run["seconds"] for run in ours)
    ratio = statistics.median(run["seconds"] / other for run, other in zip(ours, rivals, strict=True))
    hashed = statistics.median(run["hashed"] for run in ours)
    memory = max(run["memory_mb"] for run in ours)
    result = {
        "hashed_s": hashed,
        "mb": chosen.mb,
        "cat_cat_s": theirs,
        "holdfast_s": mine,
        "ratio": ratio,
        "extra_memory_mb": memory,
    }
    if chosen.json:
        print(json.dumps(result))
    else:
        print(f"{chosen.mb} MB, {chosen.rounds} rounds in turn, medians")
        print(f"  cat | cat > file        {theirs:6.2f} s   (runs: {', '.join(f'{run:.2f}' for run in rivals)})")
        runs = ", ".join(format(run["seconds"], ".2f") for run in ours)
        print(f"  captured and kept       {mine:6.2f} s   (runs: {runs})")
        print(f"  and its SHA-256 known   {hashed:6.2f} s   ({hashed / theirs:.2f} times)")
        print(f"  ratio of a pair {ratio:.2f} (limit {TIME_LIMIT})")
        print(f"  extra memory {memory:.1f} MB (limit {MEMORY_LIMIT_MB})")
    return 0 if ratio <= TIME_LIMIT and memory < MEMORY_LIMIT_MB else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--capture"]:
        print(json.dumps(capture_here(Path(sys.argv[2]), Path(sys.argv[3]))))
        sys.exit(0)
    sys.exit(main())
