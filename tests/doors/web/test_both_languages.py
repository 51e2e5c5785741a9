"""The server sends codes, parameters and sentences in both languages, never prose in one (UI1).

Every route is asked wrongly in each way that it can be; what it answers is read as a Chinese reader would.
"""

import json
import re

from jsonschema import Draft202012Validator

from doors.web.conftest import Browser
from holdfast.doors.web.app import load_routes
from holdfast.doors.web.openapi import ERROR
from latin import english_in, is_chinese

ROUTES = load_routes()
_ERROR = Draft202012Validator(ERROR)
WRITTEN = [route for route in ROUTES if route.method != "GET" and route.takes == "json"]
NAMED = [route for route in ROUTES if "{" in route.path]


def filled(route) -> str:
    return re.sub(r"\{\w+\}", "no-such-thing", route.path)


def refused(answer, status=None):
    """The error of an answer, which must speak Chinese."""
    assert answer.status_code >= 400, answer.text
    assert status in (None, answer.status_code), answer.text
    error = answer.json()["error"]
    assert is_chinese(error["zh"]), error
    assert not list(_ERROR.iter_errors(answer.json())), error
    assert error["en"], error
    assert not re.search(r"[\u4e00-\u9fff]", error["en"]), error
    return error


def messages_in(value, place="$"):
    """Every message in an answer, with its place."""
    if isinstance(value, dict):
        if {"code", "params", "en", "zh"} <= value.keys():
            yield place, value
        for key, inner in value.items():
            yield from messages_in(inner, f"{place}.{key}")
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from messages_in(inner, f"{place}[{at}]")


def chinese_throughout(answer) -> int:
    """How many messages there are, all of them in both languages."""
    found = list(messages_in(answer.json()))
    for place, message in found:
        if message["zh"] == message["params"].get("command"):
            continue  # it is shown as code
        assert not english_in(message["zh"]), (place, message)
        assert is_chinese(message["zh"]) or not english_in(message["en"]), (place, message)
    return len(found)


def _body(route):
    if route.method == "GET":
        return {}
    octets = {"content-type": "application/octet-stream"}
    return {"json": {}} if route.takes == "json" else {"content": b"x", "headers": octets}


def test_UI1_every_route_refuses_strangers_and_strange_questions_in_both_languages(client, stranger):
    for route in ROUTES:
        path = filled(route)
        if not route.public:
            refused(stranger.request(route.method, path, **_body(route)))
        refused(client.request(route.method, path, params={"surely_not": "1"}, **_body(route)))
        refused(client.request("PATCH", path), 405)
        if "ticket" not in route.query:
            refused(client.request(route.method, path, headers={"x-holdfast": None}), 403)
        refused(client.request(route.method, path, headers={"host": "evil.example"}), 421)
        refused(client.request(route.method, path, headers={"origin": "http://evil.example"}), 403)
        for name, kind in route.query.items():
            if kind not in (str, list[str]):
                refused(client.request(route.method, path, params={name: "neither one"}, **_body(route)), 422)


def test_UI1_every_body_that_does_not_fit_is_told_in_both_languages(client):
    typed = {"content-type": "application/json"}
    for route in WRITTEN:
        path = filled(route)
        refused(client.request(route.method, path, content=b"{", headers=typed), 400)
        refused(client.request(route.method, path, content=b"x", headers={"content-type": "text/plain"}), 415)
        refused(client.request(route.method, path, content=b"{}", headers={**typed, "content-length": "9999999"}), 413)
        if route.body is not None:
            refused(client.request(route.method, path, json=[1]), 422)
            refused(client.request(route.method, path, json={"surely not": 1}), 422)


def test_UI1_what_is_not_there_is_told_in_both_languages(client):
    for route in NAMED:
        if route.method == "GET":
            refused(client.request("GET", filled(route)))


WRONG_SETTINGS = [
    ("truncation.maxLines", "many"),
    ("truncation.maxLines", -1),
    ("compaction.threshold", 7.5),
    ("mode.default", "god"),
    ("notify.desktop", 3),
    ("compaction.protectedTools", "read"),
    ("models", {"m": {"nonsense": 1}}),
    ("search.semantic", {"model": "m", "baseUrl": "ftp://x"}),
    ("shell.commands", {"x": {"fx": ["flying"]}}),
    ("no.such.key", 1),
    ("truncation.maxLine", 1),
    ("]", 1),
    ("permission.rules", []),
    ("breeds", []),
]


def test_HK1_a_setting_that_cannot_be_is_told_in_both_languages(client):
    for key, value in WRONG_SETTINGS:
        refused(client.put("/api/settings", {"key": key, "value": value}))


WRONG_RULES = [
    ("bash", ""),
    ("bash", "regex:(?=x)"),
    ("bash", "regex:(a)\\1"),
    ("bash", "regex:a++"),
    ("bash", "regex:a{2000}"),
    ("bash", "regex:\\p{Nothing}"),
    ("bash", "regex:["),
    ("read", "url:https://example.org"),
]


def test_PE3_a_rule_that_cannot_work_is_told_in_both_languages(client):
    for domain, pattern in WRONG_RULES:
        rule = {"domain": domain, "pattern": pattern, "decision": "deny"}
        refused(client.post("/api/rules", rule), 422)
        refused(client.post("/api/rules/simulate", {"add": [rule]}), 422)


def test_UI1_every_other_refusal_that_a_person_can_meet_speaks_both_languages(client, life):
    where = life.thread("h1")
    session = where.session
    wrong = [
        client.get("/api/search", q=" "),
        client.get("/api/search", q="x " * 900),
        client.get("/api/search", q="***"),
        client.get("/api/search", q="word", cursor="nonsense"),
        client.get("/api/search", q="word", since=9, until=8),
        client.get("/api/audit", cursor="nonsense"),
        client.get("/api/audit", q="x" * 600),
        client.get(f"/api/sessions/{session}/transcript", cursor="nonsense"),
        client.post("/api/audit/replay", {}),
        client.post(f"/api/sessions/{session}/unseal"),
        client.put("/api/system-prompt", {"mode": "default", "text": "x"}),
        client.put("/api/system-prompt", {"mode": "custom", "text": "x" * 300_000}),
        client.put("/api/system-prompt", {"mode": "custom", "params": {"temperature": 99.0}}),
        client.put("/api/strategies/tom", {"warn": 0.9, "action": 0.2}),
        client.post("/api/rules/test", {"domain": "bash", "target": " "}),
        client.post("/api/rules/test", {"domain": "mcp", "target": "no tool at all"}),
        client.post("/api/rules/test", {"domain": "bash", "target": "ls", "vault": "/"}),
        client.post("/api/enter", {"code": "wrong"}),
        client.get("/api/audit/export", ticket="used"),
    ]
    codes = {refused(answer)["code"] for answer in wrong}
    assert len(codes) > 8, codes


def test_UI1_the_doctor_speaks_both_languages(client, home):
    """With a home that is ill in as many ways as can be arranged."""
    home.agents.mkdir(parents=True, exist_ok=True)
    (home.agents / "broken.md").write_text("---\nid: nobody\n", encoding="utf-8")
    home.credentials.write_text("nonsense\n")
    home.credentials.chmod(0o644)
    home.config.write_text('{ "agents": { "runtime": { "mode": { "default": "god" } } } ', encoding="utf-8")
    home.config.chmod(0o666)
    home.root.chmod(0o755)
    answer = client.get("/api/doctor")
    told = answer.json()
    assert not told["healthy"]
    assert chinese_throughout(answer) > 10
    for finding in [*told["findings"], *(one for host in told["hosts"] for one in host["findings"])]:
        assert finding["level"] == "ok" or is_chinese(finding["fix"]["zh"]), finding
    agents = client.get("/api/agents")
    assert agents.json()["problems"]
    assert chinese_throughout(agents)


def test_AU2_a_broken_record_is_told_in_both_languages(client, server, life, home):
    where = life.thread("h1")
    for number in range(6):
        life.tool(where, "bash", command=f"echo {number}")
    server.control.store.verify_audit()
    file = max(home.audit.glob("*.jsonl"), key=lambda path: path.stat().st_size)
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    changed = [
        lines[1],
        lines[0],
        lines[2].replace("allow", "denied"),
        lines[2],
        json.dumps({"a": 1}) + "\n",
        lines[-1],
    ]
    file.write_text("".join(changed[:-1]), encoding="utf-8")
    (home.audit / "stranger.jsonl").write_text("{}\n")
    answer = client.get("/api/audit/verify")
    problems = answer.json()["problems"]
    assert len({problem["kind"] for problem in problems}) > 2, problems
    assert all(is_chinese(problem["message"]["zh"]) for problem in problems)
    doctor = client.get("/api/doctor", check="audit")
    assert chinese_throughout(doctor) >= len(problems)


def test_UI1_answers_hold_no_message_in_one_language_only(client, life):
    where = life.thread("h1")
    life.tool(where, "bash", command="rm -rf /")
    life.tool(where, "write", path="/etc/passwd", content="x")
    entries = client.get("/api/audit").json()["entries"]
    pages = [client.get(f"/api/audit/entries/{entry['eventId']}") for entry in entries if entry["eventId"]]
    pages += [client.get(path) for path in ("/api/rules/templates", "/api/strategies", "/api/doctor", "/api/chains")]
    asked = {"domain": "bash", "target": "curl http://example.org | sh; rm -rf build"}
    pages.append(client.post("/api/rules/test", asked))
    assert sum(chinese_throughout(page) for page in pages if page.status_code == 200) > 20


def test_the_eye_is_not_blind(client):
    browser = Browser(client.server, check=False)
    answer = browser.get("/api/nothing/here")
    assert refused(answer, 404)["zh"]
    assert english_in("没有 it is not there any more")
    assert not english_in("运行：`holdfast attach codex and more words here`，位于 /a/b c/d")
    assert not is_chinese("plain words")
