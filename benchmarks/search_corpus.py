"""Synthetic events for the search benchmark: English, code, Chinese, tool output; reproducible, about 500 bytes each.

Words follow Zipf's law, identifiers are put together from parts, Chinese from words of two characters. Needles of each
kind are planted at known frequencies.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass

_SYLLABLES = ("ba be bi bo ca ce co da de di do fa fe fi ga ge go ha he hi la le li lo ma me mi mo na ne ni no pa pe po "
              "ra re ri ro sa se si so ta te ti to va ve vi wa we za zo ster tion ment able").split()  # fmt: skip
_COMMON = ("the of and to in is that it was for on are with as be at this have from or had by not but what all were when "
           "we there can an your which their said if do will each about how up out them then she many some so these "
           "would other into has more her two like him see time could no make than first been its who now people my made "
           "over did down only way find use may water long little very after words called just where most know").split()  # fmt: skip
_VERBS = "get set load save find build parse render open close send read write merge update handle create apply".split()
_NOUNS = ("Session User Config Token Cache Index Query Page File Path Event State Store Event Audit Rule Policy Gate Run "
          "Tool Model Window Prompt Message Thread Agent Digest Cursor Buffer Socket Request Response Error Result").split()  # fmt: skip
_ROLES = "Manager Factory Handler Builder Reader Writer Loader Service Client Registry Context Adapter".split()
_HANZI = ("会话 系统 搜索 错误 文件 用户 权限 配置 测试 代码 数据 函数 模型 请求 结果 运行 工具 消息 线程 记录 修复 更新 删除 "
          "读取 写入 检查 失败 成功 时间 问题 方法 接口 内存 缓存 索引 日志 服务 网络 连接 版本 发布 部署 项目 任务 计划 审批 "
          "上下文 压缩 摘要 恢复 保存 命令 路径 目录 变量 参数 返回 异常 断言 依赖 升级 回滚 分支 合并 提交 评审 设计 文档").split()  # fmt: skip
_ERRORS = ("ConnectionRefusedError: [Errno 111] Connection refused: {host}:{port}",
           "TypeError: cannot read properties of undefined (reading '{word}')",
           "sqlite3.OperationalError: no such table: {word}_{noun}",
           "FileNotFoundError: [Errno 2] No such file or directory: '/srv/{word}/{noun}.json'")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Needle:
    """Something to search for, and in one of how many events it stands."""

    kind: str
    query: str
    literal: str
    every: int


class Corpus:
    """`events()` gives texts; `needles` what was hidden in them."""

    def __init__(self, count: int, seed: int = 7) -> None:
        self.count = count
        self._chance = random.Random(seed)
        made = ("".join(self._chance.choices(_SYLLABLES, k=self._chance.randint(2, 4))) for _ in itertools.count())
        rare = list(itertools.islice(dict.fromkeys(itertools.islice(made, 60_000)), 30_000))
        self._words = [*_COMMON, *rare]
        self._weights = list(itertools.accumulate(1 / (rank + 2) for rank in range(len(self._words))))
        self.needles = [
            *(Needle("rare word", f"zq{n}vexillum", f"zq{n}vexillum", count // 5) for n in range(8)),
            *(Needle("common word", word, word, 1) for word in ("there", "which", "about", "other", "would")),
            *(Needle("two characters", word, word, 1) for word in ("会话", "错误", "权限", "上下", "索引")),
            *(Needle("phrase of characters", text, text, 400) for text in ("会话链断裂", "量子纠缠态", "缓存穿透防护")),
            *(Needle("phrase", f'"{text}"', text, 900) for text in ("merge the other branch", "water under the bridge")),
            *(Needle("error string", text, text, 2_000) for text in (
                "ConnectionRefusedError: [Errno 111] Connection refused: db7.internal:5433",
                "TypeError: cannot read properties of undefined (reading 'sessionChain')")),
            *(Needle("identifier", text, text, 3_000) for text in ("handleAuditWindowRegistry", "load_gate_cursor_v2")),
            *(Needle("part of identifier", text, text, 1) for text in ("SessionManager", "Registry", "TokenCache")),
            *(Needle("prefix", f"{text}*", text, 1) for text in ("handleAud", "Sess", "zq1vex")),
            *(Needle("path", text, text, 5_000) for text in ("src/holdfast/chain/sealerLoop.py", "docs/how-to/recall.md")),
        ]  # fmt: skip
        planted = [needle for needle in self.needles if needle.every > 1]
        self._planted = planted

    def events(self) -> Iterator[str]:
        shapes = (self._english, self._english, self._code, self._chinese, self._output)
        for number in range(self.count):
            text = shapes[number % len(shapes)]()
            for needle in self._planted:
                if self._chance.random() * needle.every < 1:
                    cut = text.find(" ", len(text) // 2) + 1
                    text = f"{text[:cut]}{needle.literal} {text[cut:]}"
            yield text

    def questions(self) -> list[str]:
        """Questions of eight words, common and rare."""
        chance = random.Random(11)
        return [
            f"When did {chance.choice(_NOUNS)} {' '.join(chance.sample(self._words[50:4000], 5))} change?"
            for _ in range(8)
        ]

    def _some(self, count: int) -> list[str]:
        return self._chance.choices(self._words, cum_weights=self._weights, k=count)

    def _english(self) -> str:
        words = self._some(85)
        for place in range(0, len(words), 12):
            words[place] = words[place].capitalize()
        return " ".join(words) + "."

    def _name(self) -> str:
        choose = self._chance.choice
        match self._chance.randrange(4):
            case 0:
                return f"{choose(_VERBS)}{choose(_NOUNS)}{choose(_ROLES)}"
            case 1:
                return f"{choose(_VERBS)}_{choose(_NOUNS).lower()}_{choose(_ROLES).lower()}"
            case 2:
                return f"{choose(_NOUNS)}{choose(_ROLES)}{self._chance.randrange(30)}"
            case _:
                return f"{choose(_VERBS)}{choose(_NOUNS)}{choose(_NOUNS)}"

    def _code(self) -> str:
        lines = []
        for _ in range(9):
            name, other, third = self._name(), self._name(), self._name()
            word = self._some(1)[0]
            lines.append(f"    {word} = self.{name}.{other}({third}, limit={self._chance.randrange(500)})")
        return f"def {self._name()}(self) -> None:\n" + "\n".join(lines)

    def _chinese(self) -> str:
        choose = self._chance.choice
        parts = []
        for _ in range(14):
            parts.append("".join(choose(_HANZI) for _ in range(self._chance.randint(3, 6))))
        return "，".join(parts) + f"。{self._name()} 返回 {self._chance.randrange(1000)}"

    def _output(self) -> str:
        chance = self._chance
        lines = []
        for _ in range(4):
            word, noun = self._some(1)[0], chance.choice(_NOUNS).lower()
            stamp = f"2026-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}T{chance.randint(0, 23):02}:14:07Z"
            lines.append(
                f"{stamp} INFO [{chance.getrandbits(40):010x}] src/{word}/{noun}.py:{chance.randint(1, 900)} done"
            )
        error = chance.choice(_ERRORS).format(
            host=f"10.0.{chance.randrange(256)}.{chance.randrange(256)}", port=chance.randrange(1024, 65536),
            word=self._some(1)[0], noun=chance.choice(_NOUNS).lower(),
        )  # fmt: skip
        return "\n".join([*lines, error])
