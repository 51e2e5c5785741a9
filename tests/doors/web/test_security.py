"""UI1: who may talk to the page's server: every way in that is not the user's own browser is refused."""

import itertools
import sqlite3

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from doors.web.conftest import BASE, Browser
from holdfast.doors.web.app import build_app, load_routes
from holdfast.doors.web.devices import LINK_SECONDS, PAIRING_SECONDS, Codes
from holdfast.doors.web.security import Address


def code_of(answer) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


FOREIGN_HOSTS = (
    "evil.example", "evil.example:8787", "127.0.0.1.evil.example:8787", "localhost:9999", "127.0.0.1",
    "localhost@x:8787", "[::1", "", "192.168.0.7:8787", "0.0.0.0:8787", "localhost:8787:8787",
)  # fmt: skip


def test_UI1_a_foreign_host_is_refused(client):
    for host in FOREIGN_HOSTS:
        for path in ("/", "/api/hello", "/api/enter"):
            answer = client.request("GET", path, headers={"host": host})
            assert code_of(answer) == (421, "foreign_host"), (host, path)


def test_UI1_the_names_of_loopback_are_ours(client):
    for host in ("127.0.0.1:8787", "localhost:8787", "[::1]:8787", "LOCALHOST:8787"):
        assert client.request("GET", "/api/hello", headers={"host": host}).status_code == 200, host


def test_UI1_beyond_loopback_addresses_in_numbers_and_given_names_are_ours():
    address = Address("0.0.0.0", 8787, tls=True, names=("box.lan",))
    assert address.accepts_host("192.168.0.7:8787")
    assert address.accepts_host("[fe80::1]:8787")
    assert address.accepts_host("box.lan:8787")
    assert not address.accepts_host("evil.example:8787")
    assert not address.accepts_host("192.168.0.7:80")
    proxied = Address("127.0.0.1", 8787, public_url="https://holdfast.example.org")
    assert proxied.accepts_host("holdfast.example.org")
    assert proxied.accepts_origin("https://holdfast.example.org", "holdfast.example.org")
    assert not proxied.accepts_origin("http://holdfast.example.org", "holdfast.example.org")
    assert not proxied.accepts_host("other.example.org")


FOREIGN_ORIGINS = (
    "http://evil.example", "null", "https://127.0.0.1:8787", "http://127.0.0.1:3000", "http://localhost:8787",
)  # fmt: skip


def test_UI1_a_foreign_origin_is_refused(client):
    for origin in FOREIGN_ORIGINS:
        for method, path in (("GET", "/api/hello"), ("POST", "/api/enter"), ("GET", "/")):
            answer = client.request(method, path, headers={"origin": origin})
            assert code_of(answer) == (403, "foreign_origin"), (origin, path)


def test_UI1_our_own_origin_is_not_foreign(client):
    assert client.request("GET", "/api/hello", headers={"origin": BASE}).status_code == 200


def test_UI1_a_fetch_from_elsewhere_is_refused_even_without_an_origin(client):
    for site in ("cross-site", "same-site"):
        answer = client.request("GET", "/api/hello", headers={"sec-fetch-site": site})
        assert code_of(answer) == (403, "foreign_origin")


def test_UI1_there_is_no_cors(client):
    answer = client.request("OPTIONS", "/api/hello", headers={"origin": BASE, "access-control-request-method": "GET"})
    assert answer.status_code == 405
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_UI1_every_route_needs_the_token(stranger):
    for route in load_routes():
        if route.public:
            continue
        path = route.path.replace("{", "").replace("}", "")
        kind = "application/octet-stream" if route.takes == "bytes" else "application/json"
        answer = stranger.request(route.method, path, content=b"{}", headers={"content-type": kind})
        expected = (410, "ticket_used") if "ticket" in route.query else (401, "locked_out")
        assert code_of(answer) == expected, route.path


def test_UI1_cookie_and_key_are_needed_both(server, client):
    cookie_alone = Browser(server)
    cookie_alone.cookies = client.cookies
    assert code_of(cookie_alone.get("/api/hello")) == (401, "locked_out")
    key_alone = Browser(server)
    key_alone.headers = dict(client.headers)
    assert code_of(key_alone.get("/api/hello")) == (401, "locked_out")
    other = Browser(server).enter()
    mixed = Browser(server)
    mixed.cookies, mixed.headers = client.cookies, dict(other.headers)
    assert code_of(mixed.get("/api/hello")) == (401, "locked_out")


def test_UI1_a_request_without_our_header_is_refused(client):
    assert code_of(client.request("GET", "/api/hello", headers={"x-holdfast": None})) == (403, "missing_header")


def test_UI1_only_json_is_taken(client):
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        answer = client.request("POST", "/api/threads", content=b"{}", headers={"content-type": kind})
        assert code_of(answer) == (415, "wrong_type"), kind


def test_UI1_a_body_that_does_not_fit_is_refused(client):
    for body, code in (
        (b"{", "not_json"), (b"[]", "bad_request"), (b'{"vault": 1}', "bad_request"), (b'{"x": 1}', "bad_request"),
    ):  # fmt: skip
        answer = client.request("POST", "/api/threads", content=body, headers=JSON)
        assert answer.json()["error"]["code"] == code, body


def test_UI1_an_oversized_body_is_refused_announced_or_not(client):
    large = b'{"text": "' + b"x" * (2 << 20) + b'"}'
    assert code_of(client.request("POST", "/api/threads", content=large, headers=JSON)) == (413, "too_large")

    async def drip():
        for _ in range(64):
            yield b"x" * (1 << 15)

    assert code_of(client.request("POST", "/api/threads", content=drip(), headers=JSON)) == (413, "too_large")


JSON = {"content-type": "application/json"}
TRAVERSALS = [
    "../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "%2e%2e/%2e%2e/etc/passwd",
    "....//etc/passwd",
    "%00",
    "%ff%fe",
    "..\\x",
]


def test_UI1_no_path_leads_out_of_the_pages_files(client):
    for path in TRAVERSALS:
        answer = client.request("GET", f"/{path}")
        assert answer.status_code in (400, 404), path
        assert b"root:" not in answer.content


def test_TR6_no_path_leads_out_of_the_outputs(client):
    client.check = False  # a client that tidies the path up asks for something that is no route
    for path in TRAVERSALS:
        for url in (f"/api/outputs/{path}/x", f"/api/outputs/x/{path}", f"/api/outputs/x/{path}/lines"):
            answer = client.request("GET", url)
            assert answer.status_code in (404, 405), url
            assert b"root:" not in answer.content


def test_UI1_every_answer_carries_the_headers(client, stranger):
    for answer in (client.get("/"), client.get("/api/hello"), stranger.get("/api/hello"), client.get("/nothing")):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cache-control"] in ("no-store", "no-cache")


def test_UI1_websockets_are_not_spoken(server):
    asking = TestClient(build_app(server), base_url=BASE)
    with pytest.raises(WebSocketDisconnect), asking.websocket_connect("/api/events"):
        pass


# one-time codes and tokens


def test_UI1_a_link_ends_after_ten_minutes():
    now = itertools.count(0.0, LINK_SECONDS + 1)
    codes = Codes(lambda: next(now))
    link = codes.link()
    with pytest.raises(Exception, match="code_expired"):
        codes.take(link, "here")


def test_UI1_a_code_that_was_never_given_is_unknown(stranger):
    assert code_of(stranger.post("/api/enter", {"code": "made-up"})) == (403, "code_unknown")


def test_UI1_wrong_codes_are_counted_for_each_client_and_for_all(server, stranger):
    server.codes = Codes(lambda: 1000.0)  # within one minute, however slow this machine is
    for _ in range(10):
        assert code_of(stranger.post("/api/enter", {"code": "wrong"})) == (403, "code_unknown")
    assert code_of(stranger.post("/api/enter", {"code": "wrong"})) == (429, "too_many_attempts")
    good = server.codes.link()
    assert code_of(stranger.post("/api/enter", {"code": good})) == (429, "too_many_attempts"), "not even a good one"
    elsewhere = stranger.post("/api/enter", {"code": good}, client=("192.0.2.7", 1))
    assert elsewhere.status_code == 200, "another client is not locked out by it"
    for number in range(60):
        stranger.post("/api/enter", {"code": "wrong"}, client=(f"192.0.2.{number // 9 + 20}", 1))
    late = stranger.post("/api/enter", {"code": server.codes.link()}, client=("192.0.2.99", 1))
    assert code_of(late) == (429, "too_many_attempts")


def test_UI1_tokens_and_codes_lie_nowhere_in_plain(server, home):
    link, (pairing, _) = server.codes.link(), server.codes.pairing()
    browser = Browser(server).enter(link)
    secret = next(iter(browser.cookies.jar)).value.partition(".")[2]
    server.control.store.note("flush", 1)
    with sqlite3.connect(home.database) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    database.close()
    kept = b"".join(path.read_bytes() for path in home.root.rglob("*") if path.is_file())
    for secret_text in (secret, browser.headers["x-holdfast"], link, pairing, pairing.replace("-", "")):
        assert secret_text.encode() not in kept


def test_UI1_a_revoked_device_is_refused_at_once(server, client):
    other = Browser(server).enter()
    listed = client.get("/api/devices").json()["devices"]
    assert [device["current"] for device in listed].count(True) == 1
    theirs = next(device["id"] for device in listed if not device["current"])
    assert client.delete(f"/api/devices/{theirs}").status_code == 200
    assert code_of(other.get("/api/hello")) == (401, "locked_out")
    assert code_of(client.delete(f"/api/devices/{theirs}")) == (404, "not_found")


def test_UI1_a_device_can_be_named_and_can_leave(client):
    mine = client.get("/api/hello").json()["device"]["id"]
    assert client.post(f"/api/devices/{mine}", {"name": "my desk"}).json()["name"] == "my desk"
    assert client.post("/api/leave").status_code == 200
    assert code_of(client.get("/api/hello")) == (401, "locked_out")


def test_UI1_a_phone_enters_by_a_typed_code_once(server, client):
    pairing = client.post("/api/devices/pair").json()
    assert pairing["qr"].startswith("<svg")
    assert pairing["url"].endswith(f"#enter={pairing['code']}")
    assert pairing["reachable"] is False, "loopback only: no phone gets here"
    typed = pairing["code"].replace("-", " ").lower()
    phone = Browser(server).enter(typed)
    kinds = {device["kind"] for device in phone.get("/api/devices").json()["devices"]}
    assert kinds == {"link", "code"}
    assert code_of(Browser(server).post("/api/enter", {"code": pairing["code"]})) == (403, "code_used")


def test_UI1_a_new_pairing_code_ends_the_older_one():
    codes = Codes(lambda: 5.0)
    (first, until), (second, _) = codes.pairing(), codes.pairing()
    assert until == 5.0 + PAIRING_SECONDS
    with pytest.raises(Exception, match="code_expired"):
        codes.take(first, "x")
    assert codes.take(second, "x") == "code"


def test_UI1_entering_and_revoking_are_on_record(server, client):
    Browser(server).enter()
    other = next(device for device in client.get("/api/devices").json()["devices"] if not device["current"])
    client.delete(f"/api/devices/{other['id']}")
    done = [entry.get("what") for entry in server.control.store.audit()]
    assert done.count("page.enter") == 2
    assert done.count("page.revoke") == 1
