"""A world of sessions that actors open, work in, seal, ask about and undo; and what must hold in it at every moment."""

from __future__ import annotations

from chain.actors import Actor
from holdfast.chain.breaker import Breaker
from holdfast.chain.late_events import deliver_late, keep_late
from holdfast.chain.sealer import SILENT_TURN_SECONDS, Sealer
from holdfast.chain.threads import Threads
from holdfast.chain.turns import close_turn, open_turn, open_turns
from holdfast.chain.unsealing import UnsealError, unseal
from holdfast.core.events import AssistantReplied
from holdfast.core.keys import SessionId, SessionKey
from holdfast.records import record_of
from holdfast.store.interface import AlreadyDecided, Approval, Change, SealedError, Session
from holdfast.testing.memory_store import MemoryStore

KEYS = [SessionKey("u", "a", thread) for thread in ("t1", "t2")]
KINDS = ["turn", "turn", "open", "report", "want", "want", "seal", "hurry", "reap", "ask", "answer", "unseal"]


class TrackedFinaliser:
    """Archives what the store holds; fails when the test wants it to."""

    def __init__(self, world: World) -> None:
        self._world = world

    def digest(self, session: Session) -> str:
        if self._world.failing:
            raise RuntimeError("the digest failed")
        self._world.digests[session.id.session] = self._world.ids(session.id.session)
        return ""

    def short_digest(self, session: Session) -> None:
        self._world.digests[session.id.session] = self._world.ids(session.id.session)

    def archive(self, session: Session) -> None:
        if self._world.failing:
            raise OSError("the disk is full")
        self._world.archives[session.id.session] = self._world.ids(session.id.session)

    def forget(self, session: Session) -> None:
        self._world.archives.pop(session.id.session, None)

    def barren(self, session: Session) -> bool:
        return False


class World:
    """`holds` after every call of anybody; `settle` at the end."""

    def __init__(self):
        self.store = MemoryStore()
        self.now = 1000.0
        self.count = 0
        self.failing = False
        self.actors: list[Actor] = []
        self.acknowledged: set[str] = set()
        self.kept: set[str] = set()
        self.archives: dict[str, list[str]] = {}
        self.digests: dict[str, list[str]] = {}
        self.at_begin: dict[str, int] = {}
        self.questions: dict[str, set[str]] = {}
        """Of each active session, those that were open after the last call."""
        self.at_seal: dict[str, list[str]] = {}
        for key in KEYS:
            self.open_next(self.store, key)

    # what actors do

    def ids(self, session):
        return [record.id for record in self.store.events(session, limit=100_000)]

    def new_id(self):
        self.count += 1
        return f"x{self.count}"

    def sealer(self, store):
        return Sealer(store, TrackedFinaliser(self), clock=lambda: self.now, new_id=self.new_id)

    def open_next(self, store, key):
        row = Session(SessionId(key, self.new_id()), "holdfast", "/v", self.now)
        threads = Threads(store, self.sealer(store), clock=lambda: self.now, new_id=self.new_id, user="u")
        session = threads.next_session(key, row)
        deliver_late(store, session)
        return session

    def last(self, store, key):
        return store.chain(key)[-1]

    def report(self, store, where):
        """An event that nothing announces: it is in the transcript, or kept for the next session."""
        event = AssistantReplied(id=self.new_id(), at=self.now, where=where, text="said")
        try:
            store.commit(Change(where, events=(record_of(event),)))
            self.acknowledged.add(event.id)
        except SealedError:
            keep_late(store, event)
            self.kept.add(event.id)

    def work_a_turn(self, store, key):
        invocation = self.new_id()
        for _ in range(3):
            session = self.open_next(store, key)
            try:
                open_turn(store, session.id, invocation, self.now)
                break
            except SealedError:
                continue
        else:
            return
        for _ in range(2):
            event = AssistantReplied(id=self.new_id(), at=self.now, where=session.id, text="said")
            store.commit(Change(session.id, events=(record_of(event),)))  # never refused while its turn is open
            self.acknowledged.add(event.id)
        close_turn(store, session.id, invocation)
        self.sealer(store).try_seal(session.id)

    def ask(self, store, key):
        where = self.last(store, key).id
        try:
            store.commit(Change(where, approvals=(Approval(self.new_id(), where, "c", self.now, "bash", {}),)))
        except SealedError:
            return

    def answer(self, store, key):
        for approval in store.approvals(status="pending"):
            try:
                store.settle_approval(approval.id, status="answered", at=self.now, answer="once", by="me")
            except AlreadyDecided:
                continue

    def undo(self, store, key):
        where = self.last(store, key).id
        try:
            unseal(store, TrackedFinaliser(self), where, by="me", at=self.now, event_id=self.new_id())
        except UnsealError:
            return

    def run(self, kind, key):
        def work(store):
            match kind:
                case "turn":
                    self.work_a_turn(store, key)
                case "open":
                    self.open_next(store, key)
                case "report":
                    self.report(store, self.last(store, key).id)
                case "want":
                    self.sealer(store).want(self.last(store, key).id, "threshold")
                case "seal":
                    self.sealer(store).seal_now(self.last(store, key).id, by="me")
                case "hurry":
                    self.sealer(store).hurry(self.last(store, key).id)
                case "reap":
                    self.sealer(store).follow_up()
                case "ask":
                    self.ask(store, key)
                case "answer":
                    self.answer(store, key)
                case "unseal":
                    self.undo(store, key)

        return Actor(self.store, work)

    # what holds after every call

    def holds(self):
        for key in KEYS:
            chain = self.store.chain(key)
            assert sum(session.state != "sealed" for session in chain) <= 1, "two live sessions in one chain"
            for session in chain:
                self.holds_for(session)
        missing = [name for name in self.acknowledged if self.store.event(name) is None]
        assert not missing, "an acknowledged event was lost"
        waiting = {body["id"] for body in self.store.notes("late:").values()}
        assert not [name for name in self.kept - waiting if self.store.event(name) is None], "a late event was lost"

    def holds_for(self, session):
        name = session.id.session
        if open_turns(session):
            assert session.state == "active", "a live turn was cut"
        pending = {approval.id for approval in self.store.approvals(status="pending", session=name)}
        if session.state == "active":
            self.questions[name] = pending
            self.at_begin[name] = len(self.ids(name))  # what is reported while it is finalised may miss the digest
        else:
            assert not pending & self.questions.get(name, set()), "a seal began over an open question"
        if session.state != "sealed":
            self.at_seal.pop(name, None)
            return
        assert not pending, "an open question was cut"
        if not session.seal_mark:
            assert len(self.digests.get(name, [])) >= self.at_begin[name], "the digest is older than the seal"
        assert self.ids(name) == self.at_seal.setdefault(name, self.ids(name)), "an event came after the seal"

    def die_between_begin_and_end(self, key):
        """The one moment that others, who hurry the session on, hide in most runs."""
        actor = self.run("seal", key)
        while not actor.done and self.last(self.store, key).state != "sealing":
            actor.step()
        actor.crash()
        self.holds()

    def settle(self):
        """Everybody comes to an end or dies; after hours without a word the reaper goes round."""
        for number, actor in enumerate(self.actors):
            actor.crash() if number % 2 else actor.finish()
        self.holds()
        self.failing = False
        self.answer(self.store, KEYS[0])
        for key in KEYS:
            if Breaker(self.store, key).failures().open:
                Breaker(self.store, key).reset()
        self.reap()
        for key in KEYS:
            self.die_between_begin_and_end(key)
        self.reap()
        for key in KEYS:
            self.open_next(self.store, key)
            for session in self.store.chain(key):
                name = session.id.session
                if session.state == "sealed":
                    assert self.archives.get(name) == self.ids(name), "the archive is not the transcript"
        self.holds()
        assert not self.store.notes("late:"), "a late event was never delivered"

    def reap(self):
        """Turns that the dead left open are over when nothing was heard of them for long enough."""
        self.now += SILENT_TURN_SECONDS + 1
        for _ in range(3):
            self.now += 60
            self.sealer(self.store).follow_up()
        for key in KEYS:
            for session in self.store.chain(key):
                assert session.state != "sealing", "a session is stuck"
                assert session.state == "sealed" or not session.extra.get("seal_wanted"), "a wanted seal was forgotten"
