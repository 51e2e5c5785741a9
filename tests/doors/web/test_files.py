"""UI1: files to mention, and files that are dragged into the conversation."""

import time

import pytest

from holdfast.doors.web.files import FRESH_SECONDS

BYTES = {"content-type": "application/octet-stream"}


def put(client, name: str, content=b"data", **query):
    path = "/api/files?" + "&".join(f"{key}={value}" for key, value in {"name": name, **query}.items())
    return client.request("POST", path, content=content, headers=BYTES)


@pytest.fixture
def project(vault):
    for name in (
        "src/main.py",
        "src/app/maintenance.py",
        "docs/main.md",
        "README.md",
        ".git/config",
        "node_modules/main/x.js",
    ):
        (vault / name).parent.mkdir(parents=True, exist_ok=True)
        (vault / name).write_text("x")
    return vault


def test_UI1_mentions_are_completed_the_likeliest_first(client, project):
    def names(prefix):
        return [found["path"] for found in client.get("/api/files/complete", prefix=prefix).json()["files"]]

    assert names("main") == ["src/main.py", "docs/main.md", "src/app/maintenance.py"]
    assert names("@READ") == ["README.md"]
    assert names("src/ap")[0] == "src/app/"
    assert names("smpy") == ["src/main.py", "src/app/maintenance.py"]
    assert not [name for name in names("") if name.startswith((".git", "node_modules"))]
    assert names("no such thing") == []


def test_UI1_a_file_that_was_made_since_the_last_look_is_completed_soon(client, project):
    def names():
        return [found["path"] for found in client.get("/api/files/complete", prefix="brand-new").json()["files"]]

    assert names() == []
    (project / "brand-new.md").write_text("x")
    end = time.monotonic() + FRESH_SECONDS - 1
    while names() == [] and time.monotonic() < end:
        time.sleep(0.05)
    assert names() == ["brand-new.md"], "a listing of seconds ago does not hold it"


def test_UI1_completion_does_not_leave_the_vault(client, project, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret-plan.txt").write_text("x")
    (project / "linked").symlink_to(outside)
    for prefix in ("secret-plan", "../", "/etc/pass"):
        assert client.get("/api/files/complete", prefix=prefix).json()["files"] == []


def test_UI1_a_file_is_taken_in_and_never_replaces_another(client, vault):
    first, second = put(client, "plan.txt", b"one"), put(client, "plan.txt", b"two")
    assert first.json() == {"path": ".agent-output/uploads/plan.txt", "bytes": 3}
    assert second.json()["path"] == ".agent-output/uploads/plan-2.txt"
    assert (vault / first.json()["path"]).read_bytes() == b"one"
    assert (vault / second.json()["path"]).read_bytes() == b"two"
    assert (vault / ".agent-output/.gitignore").read_text() == "*\n"


@pytest.mark.parametrize("name", ["", ".", "..", "%2e%2e%2fx", "a%2Fb", "..%5Cx", "a%00b", "x" * 201, "a%0Ab", "%ff"])
def test_UI1_a_name_that_is_a_path_or_nonsense_is_refused(client, vault, name):
    answer = put(client, name)
    if name == "%ff":  # no UTF-8: it arrives as a replacement character, which is a name like any other
        assert answer.status_code == 200
        return
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "bad_name")
    assert not (vault / ".agent-output").exists()


def test_UI1_a_file_that_is_too_large_leaves_nothing(server, client, vault):
    server.upload_limit = 1000
    assert put(client, "a.bin", b"x" * 1001).status_code == 413

    async def drip():
        for _ in range(20):
            yield b"x" * 100

    answer = put(client, "b.bin", drip())
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "too_large")
    left = [path for path in vault.rglob("*") if path.is_file() and path.name != ".gitignore"]
    assert left == []


def test_UI1_a_planted_link_leads_an_upload_nowhere(client, vault, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (vault / ".agent-output").symlink_to(outside)
    assert put(client, "x.txt").status_code >= 400
    (vault / ".agent-output").unlink()
    (vault / ".agent-output").mkdir()
    (vault / ".agent-output/uploads").symlink_to(outside)
    assert put(client, "x.txt").status_code >= 400
    (vault / ".agent-output/uploads").unlink()
    (vault / ".agent-output/uploads").mkdir()
    (vault / ".agent-output/uploads/x.txt").symlink_to(outside / "target")
    assert put(client, "x.txt").json()["path"].endswith("x-2.txt")
    assert list(outside.iterdir()) == []


def test_UI1_only_bytes_are_an_upload(client):
    answer = client.request("POST", "/api/files?name=x", content=b"{}", headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, "wrong_type")


def test_UI1_a_file_goes_to_the_vault_of_its_thread(server, client, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    thread = client.post("/api/threads", {"vault": str(other)}).json()["thread"]
    assert put(client, "x.txt", thread=thread).status_code == 200
    assert (other / ".agent-output/uploads/x.txt").exists()
    assert put(client, "x.txt", thread="none").status_code == 404
