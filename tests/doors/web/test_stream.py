"""UI1: one stream that breaks off and goes on: nothing twice, nothing left out, or `reset`."""

import asyncio
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from doors.web.conftest import ADDRESS
from doors.web.questions import ask, open_session, until
from holdfast.control import Control
from holdfast.core.events import ModeChanged
from holdfast.doors.web.app import start_modules
from holdfast.doors.web.catching_up import missed_by, next_numbers
from holdfast.doors.web.hub import Hub, Place, follow
from holdfast.doors.web.server import Server
from holdfast.doors.web.watch import last_seq
from holdfast.testing.builders import EventBuilder
from latin import is_chinese

ROOT = Path(__file__).resolve().parents[3]


def parsed(text: bytes) -> list[tuple[str, str, object]]:
    """Id, name and data of each event."""
    found = []
    for block in text.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if ": " in line)
        if "data" in fields:
            found.append((fields.get("id", ""), fields["event"], json.loads(fields["data"])))
    return found


def at(number: int | None) -> Place:
    return Place(number, 0, 0.0)


def drain(hub: Hub, since: Place | None) -> list[tuple[str, str, object]]:
    """What a page sees that comes now and goes when there is no more."""

    async def read() -> bytes:
        text = b""
        async for part in follow(hub, since, lambda: True):
            text += part
            if f"-{hub.last}-".encode() in text or (since is not None and since.number == hub.last):
                break
        return text

    return [event for event in parsed(asyncio.run(read())) if event[1] != "ping"]


@given(st.lists(st.text(max_size=20), max_size=60), st.integers(1, 80), st.data())
def test_UI1_a_stream_goes_on_behind_what_was_seen_or_says_reset(texts, ring, data):
    hub = Hub(ring=ring)
    for text in texts:
        hub.publish("news", {"text": text})
    seen = data.draw(st.integers(0, len(texts)))
    events = drain(hub, at(seen))
    if seen < len(texts) - ring:
        assert events[0][1] == "reset"
    else:
        assert [body["text"] for _, _, body in events] == texts[seen:]
        assert [int(identity.split("-")[1]) for identity, _, _ in events] == list(range(seen + 1, len(texts) + 1))


def test_UI1_the_ring_is_bounded_in_bytes_too():
    hub = Hub(ring_bytes=10_000)
    for _ in range(100):
        hub.publish("news", {"text": "x" * 1000})
    assert hub.after(99) is not None
    assert hub.after(10) is None


def test_UI1_an_id_of_another_process_is_no_place(server):
    server.hub.publish("news", {})
    last = server.hub.last
    assert server.hub.place_of(f"{server.hub.epoch}-{last}-7-99") == Place(last, 7, 99.0)
    assert server.hub.place_of("00000000-1-7-99") == Place(None, 7, 99.0)
    assert server.hub.place_of(f"{server.hub.epoch}-{last + 1}-7-99") is None
    assert server.hub.place_of(f"{server.hub.epoch}-{server.hub.first - 1}-7-99") is None
    assert server.hub.place_of("nonsense") is None
    (event,) = drain(server.hub, None)
    assert event[1] == "reset"


def test_UI1_news_from_other_threads_wake_every_page():
    hub = Hub()

    async def pages() -> list[list[object]]:
        async def page() -> list[object]:
            seen: list[object] = []
            async for part in follow(hub, at(0), lambda: True):
                seen += [body["n"] for _, name, body in parsed(part) if name == "news"]
                if len(seen) == 200:
                    return seen
            return seen

        def tell() -> None:
            for number in range(200):
                hub.publish("news", {"n": number})

        async with asyncio.timeout(60):
            watching = [asyncio.create_task(page()) for _ in range(5)]
            await asyncio.sleep(0)
            threading.Thread(target=tell).start()
            return list(await asyncio.gather(*watching))

    assert asyncio.run(pages()) == [list(range(200))] * 5


def test_UI1_a_stream_ends_when_the_device_is_revoked_or_the_server_stops():
    hub = Hub()
    known = True

    async def page() -> str:
        async for _ in follow(hub, at(0), lambda: known):
            pass
        return "ended"

    async def revoked() -> str:
        nonlocal known
        task = asyncio.create_task(page())
        await asyncio.sleep(0.05)
        known = False
        hub.publish("devices", {})
        async with asyncio.timeout(60):
            return await task

    assert asyncio.run(revoked()) == "ended"
    known, hub = True, Hub()

    async def stopped() -> str:
        task = asyncio.create_task(page())
        await asyncio.sleep(0.05)
        hub.close()
        async with asyncio.timeout(60):
            return await task

    assert asyncio.run(stopped()) == "ended"


# what other processes write


def seen(server, name: str) -> list[dict]:
    text = server.hub.after(server.hub.first)[1]
    return [body for _, found, body in parsed(text) if found == name]


def test_UI1_an_approval_of_another_process_appears_and_goes(server, vault):
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\n"
        "from doors.web.questions import ask\n"
        "from holdfast.control import Control\n"
        "from holdfast.store.home import Home\n"
        "control = Control.open(Home(Path(sys.argv[2])))\n"
        "print(ask(control, sys.argv[3], command='make all').id)\n"
    )
    given = [sys.executable, "-c", program, str(ROOT / "tests"), str(server.home.root), str(vault)]
    said = subprocess.run(given, capture_output=True, text=True, timeout=120, check=True).stdout.strip()
    card = until(lambda: seen(server, "approval"), "the approval of the other process")[0]
    assert (card["id"], card["status"], card["host"]) == (said, "pending", "claude-code")
    server.control.approvals.answer(said, "deny", by="terminal", message="not now")
    settled = until(lambda: [one for one in seen(server, "approval") if one["status"] == "answered"])[0]
    assert (settled["answer"], settled["answeredBy"], settled["message"]) == ("deny", "terminal", "not now")


def test_UI1_what_a_host_records_appears_as_entries_rows_and_health(server, vault):
    control = server.control
    where = open_session(control, vault)
    build = EventBuilder(where, cwd=str(vault), start=control.clock())
    call = build.call("read", path="a.txt")
    events = (
        build.started(host="claude-code"), build.prompt("Read it"), build.calling(call), build.called(call, "text"),
        build.measured(50_000, 200_000), ModeChanged(id="m", at=1.0, where=where, to="full_access", by="x"),
    )  # fmt: skip
    for event in events:
        control.plane.handle(event)
    until(lambda: [one for one in seen(server, "transcript") if one["item"]["kind"] == "mode"])
    items = [one["item"] for one in seen(server, "transcript")]
    kinds = ["session", "user", "tool", "tool", "mode"]
    assert [item["kind"] for item in items] == kinds
    assert items[2]["key"] == items[3]["key"]
    assert [item["state"] for item in items[2:4]] == ["running", "done"]
    until(lambda: [one for one in seen(server, "thread") if one["mode"] == "full_access"])
    health = until(lambda: seen(server, "health"))[-1]
    assert (health["used"], health["window"], health["strategy"]) == (50_000, 200_000, "hybrid")


def test_UI1_an_import_is_told_as_one_piece_of_news(server, vault):
    control = server.control
    where = open_session(control, vault)
    build = EventBuilder(where, cwd=str(vault))
    control.plane.handle_all([build.prompt(f"message {number}") for number in range(1200)])
    told = until(lambda: seen(server, "records"))
    assert told[0]["events"] >= 1200
    assert not seen(server, "transcript")
    control.plane.handle(build.prompt("and one more"))
    until(lambda: seen(server, "transcript"))


def test_UI1_a_changed_configuration_is_told(server):
    server.home.config.write_text('{"agents": {"runtime": {"language": "zh"}}}')
    until(lambda: [one for one in seen(server, "config") if not one["problems"]])
    server.home.config.write_text("{ broken")
    (told, *_) = until(lambda: [one for one in seen(server, "config") if one["problems"]])
    assert all(is_chinese(problem["zh"]) and problem["code"] for problem in told["problems"])


def test_UI1_messages_that_wait_are_told(server, client):
    thread = client.post("/api/threads").json()["thread"]
    until(lambda: [row for row in seen(server, "thread") if row["thread"] == thread])
    server.control.store.note(f"queue:local:holdfast:{thread}:{1.0:020.6f}:abc", {"id": "abc", "text": "later"})
    told = until(lambda: seen(server, "queue"))[0]
    assert (told["thread"], told["queue"]) == (thread, [{"id": "abc", "text": "later"}])
    server.control.store.note(f"queue:local:holdfast:{thread}:{1.0:020.6f}:abc", None)
    until(lambda: [one for one in seen(server, "queue") if not one["queue"]])


def test_UI1_the_newest_number_of_the_store_is_found_in_a_few_steps(server, vault):
    control = server.control
    assert last_seq(control.store) == 0
    build = EventBuilder(open_session(control, vault), cwd=str(vault))
    for count in (1, 5, 1500):
        control.plane.handle_all([build.prompt(f"{count} {number}") for number in range(count)])
        newest = control.store.events_since(0, 10_000)[-1].seq
        assert last_seq(control.store) == newest
        assert last_seq(control.store, newest) == newest


def test_UI1_the_stream_tells_a_question_before_anybody_polls(server, client, vault):
    before = client.get("/api/approvals").json()
    assert before["approvals"] == []
    approval = ask(server.control, vault, command="make it")
    until(lambda: [one for one in seen(server, "approval") if one["id"] == approval.id])
    rows = until(lambda: [row for row in seen(server, "thread") if row["pending"] == 1])
    assert rows[-1]["thread"] == approval.where.thread


# after a restart


def heard(server, last_id: str) -> list[tuple[str, str, object]]:
    """What a page that comes with this id is told until it stands where everybody stands."""

    async def read() -> bytes:
        async def catch_up(before: Place, here: Place) -> bytes | None:
            return missed_by(server, before, here)

        text = b""
        async for part in follow(server.hub, server.hub.place_of(last_id), lambda: True, catch_up):
            text += part
            if b"event: resumed" in text or b"event: reset" in text:
                break
        return text

    return [event for event in parsed(asyncio.run(read())) if event[1] != "ping"]


def texts_of(events) -> list[str]:
    return [body["item"]["text"] for _, name, body in events if name == "transcript"]


def test_UI1_after_a_restart_a_page_hears_what_it_missed_once_and_goes_on(home, vault):
    first = Server(Control.open(home), address=ADDRESS, vault=vault)
    start_modules(first)
    where = open_session(first.control, vault)
    build = EventBuilder(where, cwd=str(vault), start=first.control.clock())
    first.control.plane.handle(build.prompt("seen"))
    until(lambda: seen(first, "transcript"))
    last_id = parsed(first.hub.after(first.hub.first)[1])[-1][0]
    number = first.hub.last
    first.close()

    between = Control.open(home)
    for text in ("missed one", "missed two"):
        between.plane.handle(build.prompt(text))
    question = ask(between, vault, where=where, command="make all")
    between.close()

    second = Server(Control.open(home), address=ADDRESS, vault=vault)
    start_modules(second)
    try:
        assert second.hub.first > number, "numbers of a later process lie above those of an earlier one"
        events = heard(second, last_id)
        assert texts_of([event for event in events if event[2].get("item", {}).get("kind") == "user"]) == [
            "missed one",
            "missed two",
        ]
        assert [body["id"] for _, name, body in events if name == "approval"] == [question.id]
        assert events[-1][1] == "resumed"
        # Nothing is told a second time to whoever goes on from here, nor to whoever broke off in the middle.
        resumed = second.hub.place_of(events[-1][0])
        assert resumed is not None
        assert second.hub.after(resumed.number)[1] == b""
        middle = next(at for at, event in enumerate(events) if event[1] == "transcript")
        rest = heard(second, events[middle][0])
        assert texts_of([event for event in rest if event[2].get("item", {}).get("kind") == "user"]) == ["missed two"]
    finally:
        second.close()


def test_UI1_servers_that_start_at_once_count_apart(server):
    """Four at a time, on one store."""
    with ThreadPoolExecutor(4) as starts:
        firsts = list(starts.map(lambda _: next_numbers(server.control.store), range(40)))
    assert len(set(firsts)) == 40
    assert min(firsts) > server.hub.first


def test_UI1_a_place_that_this_store_never_had_is_reset(server):
    assert [name for _, name, _ in heard(server, "0badcafe-7-999999-1")] == ["reset"]
    assert [name for _, name, _ in heard(server, "nonsense")] == ["reset"]


def test_UI1_so_much_was_missed_that_it_is_told_as_one_piece_of_news(server, vault):
    build = EventBuilder(open_session(server.control, vault), cwd=str(vault))
    server.control.plane.handle_all([build.prompt(f"message {number}") for number in range(2100)])
    until(lambda: seen(server, "records"))
    events = heard(server, "0badcafe-7-0-1")
    assert [name for _, name, _ in events] == ["records", "resumed"]


@given(st.lists(st.integers(1, 6), min_size=1, max_size=8), st.integers(1, 4))
def test_UI1_a_page_too_slow_for_the_ring_gets_the_rest_from_the_record(steps, ring):
    """Whatever of the ring is gone, each position of the store is told exactly once and in order."""
    hub = Hub(ring=ring)
    told: list[int] = []
    last = sum(steps)

    async def catch_up(before: Place, here: Place) -> bytes:
        told.extend(range(before.position + 1, here.position + 1))
        return b""

    async def page() -> None:
        left, position = list(steps), 0
        async with asyncio.timeout(60):
            async for part in follow(hub, at(0), lambda: told[-1:] != [last], catch_up):
                told.extend(body["position"] for _, name, body in parsed(part) if name == "news")
                for _ in range(left.pop(0) if left else 0):
                    position += 1
                    hub.publish("news", {"position": position}, position=position)

    asyncio.run(page())
    assert told == list(range(1, sum(steps) + 1))
