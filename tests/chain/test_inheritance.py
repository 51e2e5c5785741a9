"""After a seal the next session inherits the anchors and starts in recovery (MB8)."""

import pytest

from chain.scene import Scene


@pytest.fixture
def bank(scene):
    folder = scene.vault / "memory-bank" / "details"
    (folder / "design").mkdir(parents=True)
    (scene.vault / "memory-bank" / "MEMORY.md").write_text("# Memory\n## Current Focus\n- Goal: ship it\n")
    (folder / "patterns.md").write_text("patterns")
    (folder / "design" / "api.md").write_text("api")
    (folder / "progress.md").write_text("progress")
    return folder


def read(scene, where, file):
    return scene.tool(where, "read", "text", path=str(file))


def write(scene, where, name="src/main.py"):
    return scene.tool(where, "write", "", path=str(scene.vault / name), content="x")


def next_after_seal(scene, where):
    scene.seal(where)
    begun = scene.arrive("h1", source=None)
    scene.begin(begun.session.id)
    return begun.session.id


def test_MB8_the_next_session_must_read_the_anchors_of_the_last(scene, bank):
    first = scene.arrive("h1").session.id
    read(scene, first, bank / "design" / "api.md")
    read(scene, first, bank / "progress.md")
    assert write(scene, first).allowed
    second = next_after_seal(scene, first)
    refused = write(scene, second)
    assert refused.decision == "deny"
    assert "[Recovery Gate]" in refused.reason()
    assert "design/api.md" in refused.reason()
    assert "progress.md" in refused.reason()
    read(scene, second, bank / "design" / "api.md")
    assert write(scene, second).decision == "deny"
    read(scene, second, bank / "progress.md")
    assert write(scene, second).allowed


def test_MB8_the_anchors_reach_the_model_of_the_next_session(scene, bank):
    first = scene.arrive("h1").session.id
    read(scene, first, bank / "progress.md")
    scene.seal(first)
    begun = scene.arrive("h1", source=None)
    told = scene.begin(begun.session.id)
    block = next(part.text for part in told.inject if part.sentinel == "<memory-bank-anchors>")
    assert "memory-bank/details/progress.md" in block
    assert "ship it" in block


def test_MB8_without_tracked_anchors_the_bank_itself_is_read(scene, bank):
    second = next_after_seal(scene, scene.arrive("h1").session.id)
    refused = write(scene, second).reason()
    assert "MEMORY.md" in refused
    assert "patterns.md" in refused


def test_MB8_without_a_memory_bank_there_is_no_recovery(scene):
    second = next_after_seal(scene, scene.arrive("h1").session.id)
    assert write(scene, second).allowed


def test_MB8_an_inheritance_is_passed_on_although_nobody_read_it(scene, bank):
    first = scene.arrive("h1").session.id
    read(scene, first, bank / "progress.md")
    third = next_after_seal(scene, next_after_seal(scene, first))
    assert "progress.md" in write(scene, third).reason()


def test_MB8_it_is_taken_over_once_and_also_after_a_crash(scene, bank):
    first = scene.arrive("h1").session.id
    read(scene, first, bank / "progress.md")
    scene.seal(first)
    # The process dies right after the row was made: the next event finishes what it began.
    opened = scene.chain.threads.open(scene.arrival("h1")).session
    assert opened.extra["inherits"] == "h1"
    second = scene.arrive("h1", source=None).session.id
    assert "inherits" not in scene.row(second).extra
    read(scene, second, bank / "progress.md")
    scene.arrive("h1", source=None)
    assert write(scene, second).allowed, "what was read stays read"


def test_MB8_recovery_can_be_switched_off(tmp_path):
    scene = Scene(tmp_path, memory={"recovery": False})
    (scene.vault / "memory-bank" / "details").mkdir(parents=True)
    (scene.vault / "memory-bank" / "details" / "progress.md").write_text("x")
    first = scene.arrive("h1").session.id
    read(scene, first, scene.vault / "memory-bank" / "details" / "progress.md")
    assert write(scene, next_after_seal(scene, first)).allowed
    scene.close()
