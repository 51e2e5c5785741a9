"""From a host's payload to its answer: find the thread, ask the plane, wait for a person if need be, render.

Whatever goes wrong in here is ours: a read goes on, everything else is refused with a reason (HO4).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from holdfast.approvals import Approvals
from holdfast.core.events import Event, ToolCalling
from holdfast.core.keys import SessionId, SessionKey
from holdfast.core.outcome import Outcome
from holdfast.hosts.host import Address, Header, Host, Payload, Reply
from holdfast.plane import Plane
from holdfast.store.interface import Session, StateConflict

_NOTE = "host-session:"


class Gateway:
    """`answer(host, payload bytes) -> Reply`; one for all hosts, shared by the daemon and the hook command."""

    def __init__(
        self,
        hosts: Mapping[str, Host],
        plane: Plane,
        approvals: Approvals,
        *,
        vault_of: Callable[[str], str],
        clock: Callable[[], float],
        new_id: Callable[[], str],
        user: str = "local",
        patience: Callable[[], float] = lambda: 300.0,
        interactive: Callable[[], bool] = lambda: True,
    ) -> None:
        self._hosts = hosts
        self._plane = plane
        self._store = plane.store
        self._approvals = approvals
        self._vault_of = vault_of
        self._clock = clock
        self._new_id = new_id
        self._user = user
        self._patience = patience
        self._interactive = interactive

    def answer(self, host_name: str, body: bytes) -> Reply:
        host = self._hosts.get(host_name)
        if host is None:
            known = ", ".join(sorted(self._hosts))
            return Reply(2, err=f"Holdfast knows no host {host_name!r}; it knows {known}.".encode())
        try:
            payload = json.loads(body)
            if not isinstance(payload, dict):
                raise ValueError(f"expected a JSON object, got {type(payload).__name__}")
        except ValueError as error:
            return host.refuse({}, f"Holdfast could not read what {host_name} sent ({error}), so it was blocked.")
        try:
            return self._answer(host, payload)
        except Exception as error:
            kind = type(error).__name__
            return host.refuse(payload, f"Holdfast itself failed ({kind}: {error}). Run `holdfast doctor {host_name}`.")

    def _answer(self, host: Host, payload: Payload) -> Reply:
        address = host.address(payload)
        if address is None:
            return host.render(payload, None, None)
        header = Header(
            where=self._where(host, address),
            at=self._clock(),
            invocation=host.invocation(payload),
            interactive=self._interactive(),
            new_id=self._new_id,
        )
        last: tuple[Event, Outcome] | None = None
        for event in host.parse(payload, header):
            outcome = self._plane.handle(event)
            if isinstance(event, ToolCalling) and outcome.decision == "ask":
                outcome = self._ask(host, outcome)
            if last is None or outcome.decision != "allow" or isinstance(event, ToolCalling):
                last = (event, outcome)
        return host.render(payload, *(last or (None, None)))

    def _ask(self, host: Host, outcome: Outcome) -> Outcome:
        """Where the host cannot show a question, the hook waits while the inbox answers; at the deadline it is no."""
        if host.capabilities.can("ask", "tool_calling"):
            return outcome
        approval = self._approvals.wait(outcome.approval, seconds=self._patience())
        if approval.status == "pending":
            self._approvals.expire(approval.id)
            approval = self._store.approval(approval.id) or approval
        return self._plane.after_answer(outcome, approval)

    def _where(self, host: Host, address: Address) -> SessionId:
        """The session this belongs to; a host's session opens a thread, and nothing joins one by chance."""
        note = f"{_NOTE}{host.name}:{address.session}"
        known = self._store.noted(note)
        current = self._store.session(known) if known else None
        if current is None or current.state == "sealed":
            current = self._open(host, address, current)
            self._store.note(note, current.id.session)
        where = current.id
        return where.of_subagent(address.subagent) if address.subagent else where

    def _open(self, host: Host, address: Address, sealed: Session | None) -> Session:
        if sealed is not None:
            key, name = sealed.id.key, f"{address.session}.{sealed.number + 1}"
        else:
            key = SessionKey(self._user, host.name, f"{host.name}-{address.session}")
            name = address.session
        session = Session(
            id=SessionId(key, name),
            host=host.name,
            vault=self._vault_of(address.cwd),
            started_at=self._clock(),
            cwd=address.cwd,
            model=address.model,
            extra={"transcript": address.transcript},
        )
        try:
            return self._store.open_session(session)
        except StateConflict:
            active = [other for other in self._store.chain(key) if other.state != "sealed"]
            if not active:
                raise
            return active[-1]
