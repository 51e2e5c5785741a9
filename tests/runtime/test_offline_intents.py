"""What the offline model takes a request for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.runtime.offline_intents import Intent, parse, parse_all, unquoted

REQUESTS = [
    ("read README.md", Intent("read", "README.md")),
    ("Please read the file src/plane.py.", Intent("read", "src/plane.py")),
    ("look at setup.py", Intent("read", "setup.py")),
    ('read "my notes.txt"', Intent("read", "my notes.txt")),
    ("search for TODO", Intent("search", text="TODO")),
    ('search for "def handle" in src', Intent("search", "src", "def handle")),
    ("run the tests", Intent("tests")),
    ("Could you run all tests?", Intent("tests")),
    ("run `ls -la | wc -l`", Intent("command", text="ls -la | wc -l")),
    ("run git status", Intent("command", text="git status")),
    ("$ echo hi.", Intent("command", text="echo hi.")),
    ("write a file notes.txt with hello world.", Intent("write", "notes.txt", "hello world.")),
    ('write "a; b then c" to out.txt', Intent("write", "out.txt", "a; b then c")),
    ("replace foo with bar in a.txt", Intent("replace", "a.txt", "bar", "foo")),
    ("rename a.txt to b.txt", Intent("move", "a.txt", to="b.txt")),
    ("delete old.txt", Intent("delete", "old.txt")),
    ("list files", Intent("list")),
    ("list the files in src", Intent("list", "src")),
    ("find files matching *.py", Intent("glob", text="*.py")),
    ("fetch https://example.com/a?b=1", Intent("fetch", text="https://example.com/a?b=1")),
    ("search the web for cats", Intent("web_search", text="cats")),
    ("make a plan to add login", Intent("plan", text="add login")),
    ("summarise this folder", Intent("summarise")),
    ("Summarize the project.", Intent("summarise")),
    ("keep reading status.txt until it says done", Intent("watch", "status.txt", "done")),
    ("ask a sub-agent to read README.md", Intent("delegate", text="read README.md")),
    ("what can you do?", Intent("help")),
    ("remember that the parser is done", Intent("remember", text="the parser is done")),
    ("remember: use tabs", Intent("remember", text="use tabs")),
    ("记住 解析器已完成", Intent("remember", text="解析器已完成")),
    ("mb:write", Intent("settled")),
    ("不用", Intent("settled")),
    ("读取 README.md", Intent("read", "README.md")),
    ("请帮我读一下 README.md", Intent("read", "README.md")),
    ("搜索 待办", Intent("search", text="待办")),
    ("在 src 里搜索 plane", Intent("search", "src", "plane")),
    ("跑一下测试", Intent("tests")),
    ("执行 `git status`", Intent("command", text="git status")),
    ("创建文件 a.txt 内容为 你好世界", Intent("write", "a.txt", "你好世界")),
    ("把“你好”写入 b.txt", Intent("write", "b.txt", "你好")),
    ("把 a.txt 里的 foo 改成 bar", Intent("replace", "a.txt", "bar", "foo")),
    ("列出 src 下的文件", Intent("list", "src")),
    ("总结这个文件夹", Intent("summarise")),
    ("制定一个计划", Intent("plan")),
    ("一直读取 s.txt 直到出现 done", Intent("watch", "s.txt", "done")),
    ("让子代理读取 README.md", Intent("delegate", text="读取 README.md")),
]


@pytest.mark.parametrize(("request_", "intent"), REQUESTS, ids=[request for request, _ in REQUESTS])
def test_OP1_requests_are_understood(request_, intent):
    assert parse(request_) == intent


@pytest.mark.parametrize(
    "text", ["what is the meaning of life", "okra is nice", "run the thing", "42", "今天天气怎么样"]
)
def test_OP1_nothing_is_guessed(text):
    assert parse(text) == Intent("unknown", text=text)


def test_OP1_several_requests_in_one_message():
    assert parse_all("read a.txt then list files") == [Intent("read", "a.txt"), Intent("list")]
    assert parse_all("读取 a.txt，然后列出文件") == [Intent("read", "a.txt"), Intent("list")]
    assert parse_all("run `a; b then c`") == [Intent("command", text="a; b then c")]
    assert parse_all("read a.txt; sing a song") == [Intent("unknown", text="read a.txt; sing a song")]


@given(st.text(max_size=200))
def test_OP1_every_text_is_answered(text):
    intents = parse_all(text)
    assert intents
    assert all(isinstance(intent, Intent) for intent in intents)


@given(st.text(alphabet=st.characters(blacklist_characters="`\r\n"), min_size=1, max_size=60).filter(str.strip))
def test_OP1_a_command_in_backticks_is_taken_to_the_letter(command):
    assert parse(f"run `{command}`") == Intent("command", text=command)
    assert unquoted(f"`{command}`") == command
