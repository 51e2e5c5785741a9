"""Secrets are taken out of audit entries; everything else stays readable."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.store.audit_log import chained_line
from holdfast.store.json_text import to_json_bytes
from holdfast.store.redact import has_trace, looks_random, redact_entry, redact_text

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def chars(least: int, alphabet: str = LETTERS) -> st.SearchStrategy[str]:
    return st.text(alphabet, min_size=least, max_size=least + 20)


def prefixed(prefix: str, least: int, alphabet: str = LETTERS) -> st.SearchStrategy[str]:
    return chars(least, alphabet).map(lambda rest: prefix + rest)


UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
KEYS = {
    "openai": prefixed("sk-", 20),
    "openai project": prefixed("sk-proj-", 20),
    "anthropic": prefixed("sk-ant-api03-", 20),
    "stripe": prefixed("sk_live_", 16),
    "stripe restricted": prefixed("rk_test_", 16),
    "aws": st.text(UPPER, min_size=16, max_size=16).map(lambda rest: "AKIA" + rest),
    "github": prefixed("ghp_", 36),
    "github fine": prefixed("github_pat_", 30),
    "gitlab": prefixed("glpat-", 20),
    "google": prefixed("AIza", 35),
    "google oauth": prefixed("ya29.", 30),
    "slack": prefixed("xoxb-", 20),
    "npm": prefixed("npm_", 36),
    "jwt": st.tuples(chars(20), chars(20), chars(20)).map(lambda parts: "eyJ" + ".".join(parts)),
    "private key": chars(64).map(
        lambda body: f"-----BEGIN OPENSSH PRIVATE KEY-----\n{body}\n-----END OPENSSH PRIVATE KEY-----"
    ),
}
secret_word = st.text(LETTERS + "!#%*+-./:=?^_~", min_size=6, max_size=30).filter(
    lambda word: not word.isdigit() and word.lower() not in ("required", "optional")
)
around = st.text("abc xyz/.,\n你好", max_size=20)
SHAPES = [
    "password={}",
    "PASSWORD='{}'",
    'dbPassword: "{}"',
    "export API_TOKEN={}",
    "AWS_SECRET_ACCESS_KEY = {}",
    "--password {}",
    "--token={}",
    "https://user:{}@example.com/repo.git",
    "postgres://me:{}@db/name",
    "Authorization: Bearer {}",
    "curl -H 'Authorization: Basic {}'",
    "curl -u bob:{} https://x",
    "https://x/y?access_token={}&z=1",
    '{{"clientSecret": "{}"}}',
    "sshpass -p {} ssh host",
    "mysql -h db -p{} name",
    "Cookie: session={}; other=1",
]


@pytest.mark.parametrize("kind", KEYS)
@given(data=st.data(), before=around, after=around)
def test_AU2_keys_of_known_forms_are_found_anywhere(kind, data, before, after):
    key = data.draw(KEYS[kind])
    text, kinds = redact_text(f"{before} {key} {after}")
    assert key not in text
    assert kinds


@pytest.mark.parametrize("shape", SHAPES)
@given(word=secret_word.filter(lambda word: not set(word) & set("/?#:=")), before=around, after=around)
def test_AU2_what_follows_a_telling_name_is_taken_out(shape, word, before, after):
    told = f"{before} {shape.format('S' + word)} {after}"
    text, kinds = redact_text(told)
    assert "S" + word not in text
    assert kinds


@given(
    st.recursive(
        st.one_of(st.text(), st.integers(), st.sampled_from(SHAPES).map(lambda shape: shape.format("hunter2-x"))),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8) | st.just("password"), inner),
        max_leaves=8,
    )
)
def test_AU2_redacting_twice_is_redacting_once_and_the_quick_look_misses_nothing(value):
    entry = {"targets": value, "eventId": "e"}
    once, kinds = redact_entry(entry)
    assert redact_entry(once)[0] == once
    if kinds:
        assert has_trace(to_json_bytes(entry))


@pytest.mark.parametrize(
    "harmless",
    [
        "vault:/src/auth/token.py",
        "grep -rn password src/",
        "pytest -k token tests/",
        "git commit -m 'Sort the keys'",
        "https://example.com/a@b/c",
        "docker run -u 1000:1000 image",
        "max_tokens: 4096",
        "primary_key=id",
        "author: Jane",
        "task-runner-with-a-long-name-here",
        "sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "0190a7c2-5b7e-7a3e-9d51-1f0e2a3b4c5d",
        "password=",
        "密码 设置 完成",
    ],
)
def test_AU2_ordinary_texts_stay_as_they_are(harmless):
    assert redact_text(harmless) == (harmless, set())


def test_AU2_values_of_secret_fields_are_taken_out_at_any_depth():
    entry = {"input": {"headers": [{"apiKey": "abc"}], "limit": 5, "key": "name", "signature": "a8Fz92kdLQ0xPzR7vB3n"}}
    kept, kinds = redact_entry(entry)
    assert kept == {
        "input": {
            "headers": [{"apiKey": "[redacted:secret]"}],
            "limit": 5,
            "key": "name",
            "signature": "[redacted:secret]",
        }
    }
    assert kinds == {"secret"}


def test_AU2_the_line_says_that_something_was_taken_out():
    line, _ = chained_line({"eventId": "e", "targets": ["shell:export TOKEN=hunter2xyz"]}, 1, "0" * 64)
    assert b"hunter2xyz" not in line
    assert b'"redacted":["secret"]' in line


def test_looks_random_tells_chance_from_words():
    assert looks_random("a8Fz92kdLQ0xPzR7vB3n")
    assert not looks_random("the-quick-brown-fox-jumps")
    assert not looks_random("aaaaaaaaaaaaaaaa1111")
    assert not looks_random("short1")


@pytest.mark.slow
@pytest.mark.parametrize(
    "hostile",
    [
        "password" * 20_000,
        "key=" * 20_000,
        "a-" * 50_000 + "=",
        "eyJ" + "a" * 100_000,
        "://" + "a" * 100_000,
        "-----BEGIN " * 10_000 + "PRIVATE KEY",
        'password="' + "\\" * 50_000,
        "mysql " * 20_000,
        "cookie: " * 20_000,
    ],
)
def test_adversarial_texts_do_not_stall(hostile):
    began = time.process_time()
    redact_text(hostile)
    assert time.process_time() - began < 5
