"""UI1: entering the page: one-time links, the token, devices."""

from doors.web.conftest import Browser


def test_UI1_a_link_is_good_once(server, stranger):
    code = server.codes.link()
    answer = stranger.post("/api/enter", {"code": code})
    assert answer.status_code == 200
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    again = Browser(server).post("/api/enter", {"code": code})
    assert (again.status_code, again.json()["error"]["code"]) == (403, "code_used")


def test_UI1_hello_tells_who_and_where(client, vault):
    told = client.get("/api/hello").json()
    assert told["vault"] == str(vault)
    assert told["offline"] is True
    assert told["device"]["current"] is True


def test_UI1_nothing_is_told_without_a_token(stranger):
    answer = stranger.get("/api/hello")
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "locked_out")
