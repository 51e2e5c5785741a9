"""One-time tickets: how the recall server knows whose call it answers (SC5).

The hook that sees a tool call before it runs knows the session; the server that carries it out does not. So the hook
leaves a ticket under the tool and the hash of its arguments, and the server takes it. Nothing that a model says decides
whose memory it reads.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.core.keys import SessionId, SessionKey
from holdfast.store.interface import Store

LIFETIME_SECONDS = 60.0
_PREFIX = "ticket:"


class TicketError(Exception):
    """No ticket, or several that cannot be told apart; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """Whose call it is."""

    where: SessionId
    vault: str
    call_id: str
    at: float


def argument_hash(arguments: Mapping[str, Any]) -> str:
    """The same for the same call, whichever way its JSON was written; what is null counts as absent."""
    given = {name: value for name, value in arguments.items() if value is not None}
    text = json.dumps(given, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def leave_ticket(
    store: Store, where: SessionId, vault: str, tool: str, arguments: Mapping[str, Any], call_id: str, at: float
) -> None:
    """For the hook, right before it lets a recall tool run. `tool` is the bare name: `session_search`."""
    sweep_tickets(store, where.user, at)
    name = f"{_prefix(where.user, tool, arguments)}{where.session}\n{where.subagent}\n{call_id}\n{at!r}"
    body = {
        "user": where.user,
        "agent": where.agent,
        "thread": where.thread,
        "session": where.session,
        "subagent": where.subagent,
        "vault": vault,
        "call": call_id,
        "at": at,
    }
    # The snapshot makes it single-use: it is taken away in the transaction that reads it.
    store.save_snapshot(where, name, b"ticket", at)
    store.note(name, body)


def take_ticket(
    store: Store, user: str, tool: str, arguments: Mapping[str, Any], now: float, call_id: str = ""
) -> Ticket:
    """For the server: whose call this is. Raises `TicketError`."""
    found = {
        name: _ticket(body)
        for name, body in store.notes(_prefix(user, tool, arguments)).items()
        if 0 <= now - float(body["at"]) <= LIFETIME_SECONDS
    }
    exact = {name: ticket for name, ticket in found.items() if call_id and ticket.call_id == call_id}
    candidates = exact or found
    threads = {ticket.where.key for ticket in candidates.values()}
    if len(threads) > 1:
        for name in candidates:
            store.note(name, None)
        raise TicketError(
            "several sessions made this very call at the same moment, so it cannot be told whose it is; "
            "nothing was read. Call again, with slightly different words"
        )
    for name, ticket in sorted(candidates.items(), key=lambda entry: entry[1].at):
        taken = store.take_snapshot(ticket.where, name)
        store.note(name, None)
        if taken is not None:
            return ticket
    raise TicketError(
        "this call came without a ticket from Holdfast's hook, so it is not known whose threads it may read. "
        "Attach the host (`holdfast attach HOST`), or start the server with --thread or --scope vault"
    )


def sweep_tickets(store: Store, user: str, now: float) -> None:
    """Nobody came for these."""
    for name, body in store.notes(f"{_PREFIX}{user}\n").items():
        if not 0 <= now - float(body["at"]) <= LIFETIME_SECONDS:
            if store.session(str(body["session"])) is not None:
                store.take_snapshot(_ticket(body).where, name)
            store.note(name, None)


def _ticket(body: Mapping[str, Any]) -> Ticket:
    key = SessionKey(str(body["user"]), str(body["agent"]), str(body["thread"]))
    where = SessionId(key, str(body["session"]), str(body["subagent"]))
    return Ticket(where, str(body["vault"]), str(body["call"]), float(body["at"]))


def _prefix(user: str, tool: str, arguments: Mapping[str, Any]) -> str:
    return f"{_PREFIX}{user}\n{tool}\n{argument_hash(arguments)}\n"
