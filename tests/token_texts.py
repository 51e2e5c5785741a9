"""Texts of the kinds that fill a history, written or generated here: estimates are held against a real tokenizer."""

import json
import random
import sysconfig
from pathlib import Path

STDLIB = Path(sysconfig.get_paths()["stdlib"])
ROOT = Path(__file__).resolve().parents[1]

ENGLISH = """\
The night build has been red since Tuesday. Two things went wrong at once, which is why nobody could explain it at
first. The cache of compiled grammars is shared between jobs, and the job that cleans it runs at the same minute as
the one that fills it; about one build in five therefore found an empty directory and fell back to compiling
everything, which takes eleven minutes longer than the limit allows. At the same time the limit itself had been lowered
from thirty minutes to twenty, in a change that was meant for another project.

What I would do: give each job a cache of its own, keyed by the lock file, and put the limit back. The cleaning job can
then remove whatever has not been read for a week, without asking who else is using it. It is less clever than what we
have, but it cannot race with anything. If disk space becomes a worry again, we can keep the newest three per branch
and drop the rest; that would still be well under four gigabytes.

Please do not touch the release workflow while you are there. It uses the same step, but with other permissions, and
the last time somebody "just tidied it up" we shipped a package without its licence file. When you are done, write a
short note in the changelog so that people know why their first build after the change will be slow, and tell Maria,
who looks after the runners, before you merge. She asked to be warned about anything that changes how much is written
to the shared volume. There is no hurry: the builds that matter are the ones before the end of the month.
"""

CHINESE = """\
这个项目的目标，是让长时间运行的智能体守住边界：不越权，不跑题，不丢失上下文，并且每一步都有记录可查。用户可以随时打开页面，
看到现在进行到哪里、为什么停下来、接下来需要谁来决定。权限规则写在一份可以手工修改的文件里，最后匹配的规则生效；
没有规则涉及的操作一律先询问，绝不因为沉默而放行。

昨天的构建失败有两个原因。第一，缓存目录被两个任务同时使用，清理任务恰好在填充任务之前运行，于是大约五分之一的构建
找不到缓存，只能从头编译。第二，时限被人从三十分钟改成了二十分钟，而这个改动本来是给另一个仓库准备的。建议先把缓存按锁文件
分开存放，再把时限改回去；清理任务只删除一周内没有读取过的内容，这样就不会互相干扰。

改动之前请先阅读设计文档，尤其是关于恢复流程的那一节。压缩之后，智能体必须重新读过锚点文件才能继续写入；如果锚点已经被删除，
就自动跳过，不允许出现永远等待的情况。测试要覆盖三种情形：正常恢复、锚点缺失、并发写入。完成后在更新日志里写一句话，
说明第一次构建会比较慢，并在合并之前通知负责运行环境的同事。数据库相关的脚本这次不要动，等下周评审之后再说。
"""

# fmt: off
WORDS = (
    "user", "order", "status", "created", "name", "email", "address", "price", "total", "items", "active", "source",
    "message", "level", "session",
)
# fmt: on
PARTS = ("auth", "api", "cache", "worker", "gateway", "billing", "search", "index", "mail", "queue")


def english():
    return ENGLISH + (ROOT / "LICENSE").read_text(encoding="utf-8")[:6000]


def chinese():
    return CHINESE


def code():
    names = ("argparse.py", "json/decoder.py", "textwrap.py", "http/cookies.py", "asyncio/queues.py")
    return "".join((STDLIB / name).read_text(encoding="utf-8")[:12_000] for name in names)


def json_text():
    chance = random.Random(4)

    def scalar():
        day = f"2026-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}"
        return chance.choice(
            (
                chance.randrange(10 ** chance.randrange(1, 8)),
                round(chance.random() * 500, 2),
                True,
                None,
                " ".join(chance.sample(WORDS, 3)),
                f"{day}T{chance.randrange(24):02}:{chance.randrange(60):02}:00Z",
                f"{chance.getrandbits(32):08x}-{chance.getrandbits(16):04x}",
            )
        )

    def record(depth):
        keys = chance.sample(WORDS, chance.randrange(3, 8))
        return {key: record(depth - 1) if depth and chance.random() < 0.25 else scalar() for key in keys}

    records = [record(2) for _ in range(120)]
    return json.dumps(records[:60], indent=2) + "\n" + json.dumps(records[60:])


def logs():
    chance = random.Random(5)
    lines = []
    for number in range(240):
        clock = ":".join(f"{chance.randrange(most):02}" for most in (24, 60, 60))
        at = f"2026-03-{1 + number // 10:02} {clock}"
        part, count = chance.choice(PARTS), chance.randrange(10 ** chance.randrange(1, 6))
        said = chance.choice(
            (
                f"request completed in {count} ms",
                f"connection reset by peer, retrying in {count} ms",
                f'"GET /api/v1/{part}/{count} HTTP/1.1" {chance.choice((200, 404, 500))} {count}',
                f"cache miss key={part}:{chance.getrandbits(48):012x}",
                f'  File "/srv/app/{part}/handler.py", line {count % 900}, in handle',
                f"worker {count % 40} finished job {count}: 0 errors, {count % 7} warnings",
            )
        )
        level = chance.choice(("INFO", "WARNING", "ERROR", "DEBUG"))
        lines.append(
            (
                f"{at},{count % 1000:03} {level:7} [{part}-{count % 8}] {said}",
                f"{at} host{count % 9} {part}[{count}]: {said}",
            )[number % 2]
        )
    return "\n".join(lines)


KINDS = {"english": english, "code": code, "json": json_text, "logs": logs, "chinese": chinese}
