"""Importing transcripts: 1 GB of synthetic ones in the form that Claude Code writes, beside only parsing them.

`bench_import.py [--megabytes N] [--json]`. The same again shows what a repeated import costs.
"""

import argparse
import json
import random
import shutil
import tempfile
import time
import uuid
from pathlib import Path

import orjson

from holdfast.chain.importers.claude_code import ClaudeCodeImporter
from holdfast.chain.importers.engine import ImportEngine
from holdfast.store.sqlite import SqliteStore

WORDS = [
    *("session", "manager", "refuses", "connection", "because", "queue", "worker", "restarts", "while", "migration"),
    *("runs", "against", "production", "database", "error", "timeout", "retry", "cache", "index", "search", "parser"),
    *("token", "stream", "handler", "修复", "登录", "模块", "错误", "会话", "搜索"),
]
SESSION_BYTES = 12_000_000
USAGE = {
    "input_tokens": 4,
    "cache_creation_input_tokens": 812,
    "cache_read_input_tokens": 60_112,
    "output_tokens": 311,
    "service_tier": "standard",
    "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 812},
}


class Writer:
    """Writes sessions as the real program does: a prompt, then turns of text, call and result, with all it adds."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.pool = [self.sentence(self.chance.randint(8, 40)) for _ in range(500)]

    def sentence(self, words: int) -> str:
        return " ".join(self.chance.choices(WORDS, k=words))

    def text(self, low: int, high: int) -> str:
        wanted = self.chance.randint(low, high)
        parts, size = [], 0
        while size < wanted:
            parts.append(self.chance.choice(self.pool))
            size += len(parts[-1])
        return "\n".join(parts)[:wanted]

    def session(self, path: Path, size: int) -> int:
        session, prompt = str(uuid.UUID(int=self.chance.getrandbits(128))), ""
        written = moment = 0
        with path.with_name(f"{session}.jsonl").open("wb") as file:
            while written < size:
                moment += 1
                if moment % 25 == 1:
                    prompt = str(uuid.UUID(int=self.chance.getrandbits(128)))
                    written += file.write(self.line(session, prompt, moment, "user", self.text(40, 600)))
                call = f"toolu_{self.chance.getrandbits(96):024x}"
                reply = [{"type": "text", "text": self.text(60, 900)}]
                given = {"command": self.text(20, 200), "description": "Run it"}
                use = [{"type": "tool_use", "id": call, "name": "Bash", "input": given}]
                result = [
                    {"type": "tool_result", "tool_use_id": call, "content": self.text(100, 9000), "is_error": False}
                ]
                for role, content in (("assistant", reply), ("assistant", use), ("user", result)):
                    written += file.write(self.line(session, prompt, moment, role, content))
        return written

    def line(self, session: str, prompt: str, moment: int, role: str, content: object) -> bytes:
        message: dict = {"role": role, "content": content}
        entry: dict = {
            "parentUuid": str(uuid.UUID(int=self.chance.getrandbits(128))),
            "isSidechain": False,
            "type": role,
            "message": message,
            "uuid": str(uuid.UUID(int=self.chance.getrandbits(128))),
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%S.123Z", time.gmtime(1_790_000_000 + moment)),
            "userType": "external",
            "entrypoint": "cli",
            "cwd": "/home/someone/project",
            "sessionId": session,
            "version": "2.1.325",
            "gitBranch": "main",
        }
        if role == "assistant":
            message.update(
                id=f"msg_{moment}", type="message", model="claude-opus-5-5", stop_reason="tool_use", usage=USAGE
            )
            entry.update(requestRef=entry["uuid"], apiBlockIndex=0)
        else:
            entry["promptId"] = prompt
        return orjson.dumps(entry) + b"\n"


def measured(work) -> tuple[float, float]:
    """Seconds by the clock, and of this process's own work: on a busy machine the two differ."""
    began, worked = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began, time.process_time() - worked


def read_only(folder: Path) -> None:
    for path in folder.rglob("*.jsonl"):
        with path.open("rb") as file:
            for line in file:
                orjson.loads(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="holdfast-import-"))
    try:
        projects = folder / "projects" / "-home-someone-project"
        projects.mkdir(parents=True)
        writer, size = Writer(1), 0
        while size < options.megabytes * 1_000_000:
            size += writer.session(projects / "x", min(SESSION_BYTES, options.megabytes * 1_000_000 - size))
        store = SqliteStore(folder / "holdfast.db", audit_dir=folder / "audit")
        engine = ImportEngine(store, user="local")
        reports = []
        first, work = measured(lambda: reports.append(engine.run(ClaudeCodeImporter(), [folder / "projects"])))
        again, _ = measured(lambda: reports.append(engine.run(ClaudeCodeImporter(), [folder / "projects"])))
        parsing, _ = measured(lambda: read_only(folder / "projects"))
        store.close()
        (folder / "holdfast.db").unlink()
        whole = {
            "megabytes": round(size / 1e6),
            "sessions": len(reports[0].sessions),
            "events": reports[0].events,
            "import_seconds": round(first, 1),
            "import_mb_per_s": round(size / 1e6 / first, 1),
            "import_cpu_seconds": round(work, 1),
            "events_per_s": round(reports[0].events / first),
            "again_seconds": round(again, 2),
            "again_events": reports[1].events,
            "only_parsing_mb_per_s": round(size / 1e6 / parsing, 1),
        }
        print(json.dumps(whole) if options.json else "\n".join(f"{name:24} {value}" for name, value in whole.items()))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
