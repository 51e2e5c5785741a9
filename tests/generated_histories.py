"""Histories of every shape, made from a seed: fast enough for thousands, and the same in every run."""

import json
import random

from holdfast.core.history import Item, sized

TOOLS = ("read", "bash", "grep", "ls", "write", "edit", "task", "tasks_list", "web_fetch", "mcp__github__search", "")
ENGLISH = (
    "Please find out why the nightly build fails and mend it.",
    "The cache is cleared before the lock is taken; swap the two lines.",
    "Keep the old field names, the mobile client still reads them.",
    "All 214 tests pass now, two were skipped.",
)
CHINESE = (
    "请检查昨晚构建失败的原因，并修好它。",
    "先取得锁，再清空缓存；把这两行对调。",
    "旧字段名要保留，移动端还在读取。",
    "现在 214 个测试全部通过，跳过了两个。",
)
CODE = (
    "def total(rows):\n    return sum(row.price * row.count for row in rows)\n",
    "if (!lock.tryAcquire(timeout, TimeUnit.SECONDS)) {\n    throw new LockTimeout(name);\n}\n",
    "SELECT id, name FROM orders WHERE status = 'open' ORDER BY created_at DESC LIMIT 50;\n",
)


def words(chance, most, chinese):
    """Up to about `most` characters of prose or code."""
    kind = CHINESE if chinese and chance.random() < 0.8 else ENGLISH if chance.random() < 0.6 else CODE
    size = int(most * chance.random() ** 3)
    piece = chance.choice(kind)
    return (piece * (size // len(piece) + 1))[: max(1, size)]


def output(chance, most, chinese):
    text = words(chance, most, chinese)
    if chance.random() < 0.05:
        text += f"\n[holdfast:truncated]\nFull output: /vault/.agent-output/2026-01-26-bash-{chance.randrange(999)}.txt"
    return "" if chance.random() < 0.05 else text


class HistoryMaker:
    """One history: several systems, turns with parallel calls, lost halves of pairs, images, pinned items."""

    def __init__(self, seed, longest=2000, text_size=3000):
        self.chance = random.Random(seed)
        self.length = max(1, int(longest ** self.chance.random()))
        self.text_size = text_size
        self.chinese = self.chance.random() < 0.4
        self.broken = self.chance.random() < 0.5
        self.pins = self.chance.random() < 0.2
        self.calls = 0
        self.items = []

    def make(self):
        chance = self.chance
        for _ in range(chance.choice((0, 0, 1, 2, 4))):
            self.add("system", words(chance, 400, self.chinese))
        while len(self.items) < self.length:
            self.turn()
        history = self.items[: self.length]
        return tuple(history if chance.random() < 0.1 else map(sized, history))

    def add(self, kind, text, **fields):
        fields.setdefault("images", 1 if kind in ("user", "result") and self.chance.random() < 0.03 else 0)
        fields.setdefault("pinned", self.pins and self.chance.random() < 0.03)
        self.items.append(Item(kind, text, raw={"n": len(self.items)}, **fields))

    def turn(self):
        chance = self.chance
        if chance.random() < 0.95:
            self.add("user", words(chance, 600, self.chinese))
        if chance.random() < 0.05:
            self.add("system", words(chance, 200, self.chinese))
        long_run = chance.random() < 0.1
        for _ in range(int(40 * chance.random()) if long_run else chance.randrange(5)):
            if chance.random() < 0.3:
                self.add("reasoning", words(chance, 500, self.chinese))
            if chance.random() < 0.4:
                self.add("assistant", words(chance, 500, self.chinese))
            self.batch()
        if chance.random() < 0.9:
            self.add("assistant", words(chance, 800, self.chinese))

    def batch(self):
        """Calls of one reply and their results, in any order; sometimes a half is missing or stands alone."""
        chance = self.chance
        calls = []
        for _ in range(chance.choice((1, 1, 1, 2, 3, 6))):
            self.calls += 1
            again = self.broken and chance.random() < 0.05
            name = f"call_{chance.randrange(self.calls) if again else self.calls}"
            tool = chance.choice(TOOLS)
            self.add("call", json.dumps({"path": words(chance, 60, self.chinese)}), call_id=name, tool=tool)
            calls.append((name, tool))
        chance.shuffle(calls)
        for name, tool in calls:
            if self.broken and chance.random() < 0.06:
                continue
            code = chance.choice((None, 0, 0, 1)) if tool == "bash" else None
            text = output(chance, self.text_size * 4, self.chinese)
            self.add("result", text, call_id=name, tool=tool, failed=code == 1, exit_code=code)
        if self.broken and chance.random() < 0.05:
            self.add("result", "answers nothing", call_id=f"lost_{len(self.items)}", tool="read")


def history(seed, longest=2000, text_size=3000):
    return HistoryMaker(seed, longest, text_size).make()
