"""`web_fetch` against a real server on loopback that plays the internet (PE11)."""

import asyncio
import gzip
import json
import shutil
import ssl
import subprocess
import time
import zlib
from dataclasses import replace

import pytest

from holdfast.core.settings import RuleSetting, Settings
from holdfast.runtime.tool import ToolFailure
from holdfast.runtime.tools.web_client import WebClient
from holdfast.runtime.tools.web_fetch import CLIENT
from tool_bench import with_runtime
from web_bench import PUBLIC, Names, Wire, server

PAGE = b"<html><head><title>A page</title></head><body><h1>Hello</h1><p>Some <b>text</b>.</p></body></html>"


def fetch(bench, handler, url="http://example.com/", *, slow=0.0, client=None, **given):
    async def go():
        async with server(handler, slow=slow) as port:
            made = client or WebClient(resolver=Names(), seconds=10)
            bench.memory[CLIENT] = replace(made, connect=Wire(port))
            return await bench.acall("web_fetch", url=url, **given)

    return asyncio.run(go())


def answering(body, kind="text/html", status=200, **headers):
    return lambda *request: (status, {"Content-Type": kind, **headers}, body)


def test_a_page_comes_as_markdown(bench):
    output = fetch(bench, answering(PAGE))
    assert output.text == "[http://example.com/]\n# A page\n\n# Hello\n\nSome **text**."
    assert output.display["status"] == 200
    assert fetch(bench, answering(PAGE), format="raw").text.endswith(PAGE.decode())


def test_what_is_sent_is_little_and_honest(bench):
    seen = {}

    def handler(method, target, headers, body):
        seen.update(headers, method=method, target=target)
        return 200, {"Content-Type": "text/plain"}, b"ok"

    fetch(bench, handler, "http://example.com:8080/a?b=c")
    assert (seen["method"], seen["target"], seen["host"]) == ("GET", "/a?b=c", "example.com:8080")
    assert "Holdfast" in seen["user-agent"]
    assert "cookie" not in seen
    assert "referer" not in seen


def test_text_and_json_come_as_they_are(bench):
    assert fetch(bench, answering(b"plain\n", "text/plain")).text == "[http://example.com/]\nplain"
    output = fetch(bench, answering(b'{"a":[1]}', "application/json"))
    assert json.loads(output.text) == {"a": [1]}
    assert output.structured
    assert fetch(bench, answering(b"{broken", "application/json")).text.endswith("{broken")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("grüße".encode("latin-1"), "text/plain; charset=ISO-8859-1"),
        ("grüße".encode(), "text/plain"),
        ('<meta charset="gb18030"><p>grüße</p>'.encode("gb18030"), "text/html"),
        ("grüße".encode(), "text/plain; charset=no-such-thing"),
    ],
)
def test_the_charset_is_respected(bench, body, kind):
    assert "grüße" in fetch(bench, answering(body, kind)).text


@pytest.mark.parametrize("kind", ["image/png", "application/pdf", "application/octet-stream"])
def test_what_is_no_text_is_named(bench, kind):
    text = fetch(bench, answering(b"\x89PNG\r\n\x1a\n\0\0\0\0", kind)).text
    assert "cannot be shown as text" in text
    assert "12 bytes" in text


@pytest.mark.parametrize(
    ("packed", "name"),
    [
        (gzip.compress(PAGE), "gzip"),
        (zlib.compress(PAGE), "deflate"),
        (zlib.compress(PAGE)[2:-4], "deflate"),
    ],
    ids=["gzip", "deflate", "bare deflate"],  # packed bytes hold the time: two workers would not agree on the name
)
def test_packed_answers_are_unpacked(bench, packed, name):
    assert "Hello" in fetch(bench, answering(packed, **{"Content-Encoding": name})).text


def test_a_bomb_is_cut_at_the_limit(bench):
    bomb = gzip.compress(b"a" * (50 << 20), 9)
    client = WebClient(resolver=Names(), most_bytes=100_000)
    output = fetch(bench, answering(bomb, "text/plain", **{"Content-Encoding": "gzip"}), client=client)
    assert "only the first 100000 bytes" in output.text
    assert len(output.text) < 101_000
    for broken in (b"no gzip at all", bomb[:3]):
        with pytest.raises(ToolFailure, match="cannot be read"):
            fetch(bench, answering(b"x" + broken, "text/plain", **{"Content-Encoding": "gzip"}))
    with pytest.raises(ToolFailure, match="packed as 'br'"):
        fetch(bench, answering(b"x", **{"Content-Encoding": "br"}))


def test_a_slow_server_is_given_up(bench):
    began = time.monotonic()
    with pytest.raises(ToolFailure, match=r"did not answer within 0\.5 s"):
        fetch(bench, answering(b"late"), slow=30, client=WebClient(resolver=Names(), seconds=0.5))
    assert time.monotonic() - began < 5


def test_a_server_that_hangs_up_is_explained(bench):
    async def go():
        async def hang_up(reader, writer):
            await reader.readline()
            writer.close()

        async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as listening:
            port = listening.sockets[0].getsockname()[1]
            bench.memory[CLIENT] = WebClient(resolver=Names(), connect=Wire(port))
            return await bench.acall("web_fetch", url="http://example.com/")

    with pytest.raises(ToolFailure, match="could not be fetched"):
        asyncio.run(go())


def test_an_error_page_is_shown_as_a_failure(bench):
    output = fetch(bench, answering(PAGE, status=404))
    assert output.failed
    assert "status 404" in output.text


def test_redirects_on_the_same_host_are_followed_within_bounds(bench):
    def handler(method, target, headers, body):
        if target == "/":
            return 301, {"Location": "/next?x=1"}, b""
        if target.startswith("/next"):
            return 302, {"Location": "http://www.example.com/end"}, b""
        return 200, {"Content-Type": "text/plain"}, target.encode()

    assert fetch(bench, handler).text == "[http://www.example.com/end]\n/end"
    with pytest.raises(ToolFailure, match="more than 8 times"):
        fetch(bench, lambda *request: (302, {"Location": "/again"}, b""))


def test_a_redirect_elsewhere_or_to_what_a_rule_guards_is_reported(bench):
    output = fetch(bench, lambda *request: (302, {"Location": "https://other.example.org/x"}, b""))
    assert "redirects to https://other.example.org/x, which was not fetched" in output.text
    rule = RuleSetting("web_fetch", "url:http://example.com/private/**", "deny")
    settings = Settings()
    permission = replace(settings.runtime.permission, rules=(rule,))
    bench.settings = with_runtime(settings, permission=permission)
    output = fetch(bench, lambda *request: (302, {"Location": "/private/x"}, b""))
    assert "redirects to http://example.com/private/x, which was not fetched" in output.text


def test_an_encrypted_page_does_not_lead_to_an_open_one(bench):
    with pytest.raises(ToolFailure, match="not encrypted"):
        fetch(bench, lambda *request: (302, {"Location": "http://example.com/x"}, b""), "https://example.com/")
    answer = fetch(bench, lambda *request: (200, {"Content-Type": "text/plain"}, b"safe"), "https://example.com/")
    assert answer.text.endswith("safe")


@pytest.mark.skipif(shutil.which("openssl") is None, reason="installable: openssl")
def test_a_certificate_is_held_against_the_name_though_the_address_is_pinned(bench, tmp_path):
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "2",
         "-subj", "/CN=example.com", "-addext", "subjectAltName=DNS:example.com"],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    serving = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    serving.load_cert_chain(certificate, key)
    trusting = ssl.create_default_context(cafile=str(certificate))

    async def go(url, context):
        async with server(answering(b"x", "text/plain"), ssl_context=serving) as port:
            bench.memory[CLIENT] = WebClient(resolver=Names(), connect=Wire(port, encrypted=True), ssl_context=context)
            return await bench.acall("web_fetch", url=url)

    assert asyncio.run(go("https://example.com/", trusting)).text.endswith("x")
    for url, context in (("https://other.example.com/", trusting), ("https://example.com/", None)):
        with pytest.raises(ToolFailure, match="could not be fetched"):
            asyncio.run(go(url, context))


@pytest.mark.parametrize("url", ["http://127.0.0.1/", "file:///etc/passwd", "localhost:8080/x", "http://[::1]/"])
def test_PE11_refusals_reach_the_model_as_sentences(bench, url):
    assert bench.failure("web_fetch", url=url).endswith((".", "fetched."))


def test_a_bare_host_means_https(bench):
    names = Names({"example.com": []})
    bench.memory[CLIENT] = WebClient(resolver=names)
    assert "has no address" in bench.failure("web_fetch", url="example.com/x")
    assert names.asked == ["example.com"]


def test_the_connection_goes_to_the_checked_address(bench):
    async def go():
        async with server(answering(b"x", "text/plain")) as port:
            wire = Wire(port)
            bench.memory[CLIENT] = WebClient(resolver=Names(), connect=wire)
            await bench.acall("web_fetch", url="http://example.com/")
            return wire.connected

    assert asyncio.run(go()) == [PUBLIC]
