"""Tells the user that something waits, where they asked to be told: a webhook, ntfy, the desktop.

The daemon and every server of the page do this; the store decides which of them tells of a question. Only what the
user's own file says is used; a vault cannot set an address. What is sent names the tool, the host and the thread's
agent, and never the arguments: those may hold secrets, and they go to a stranger's machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from holdfast.core.messages import Phrase
from holdfast.doors.notify_claims import Claims
from holdfast.store.interface import Approval

if TYPE_CHECKING:
    from holdfast.control import Control

SECONDS = 10.0
LOOK_SECONDS = 1.0
SWEEP_SECONDS = 3600.0
MOST_WAITING = 200
_OLD = 600.0
WAITS = Phrase("notify.waits", "{tool} waits for your answer ({host}).", "{tool} 正在等待你的答复（{host}）。")
_CLEAN = str.maketrans(dict.fromkeys(map(chr, (*range(32), 127)), " "))


class Notifier:
    """`start` once: from then on a thread of its own looks and sends, each with a deadline. `look` hurries it."""

    def __init__(
        self,
        control: Control,
        page: Callable[[], str],
        *,
        patience: Callable[[], float] = lambda: 0.0,
        run: Callable[..., Any] = subprocess.run,
        platform: str = sys.platform,
    ) -> None:
        self._control = control
        self._page = page
        self._patience = patience
        """How long others may be quicker, because they have more to say."""
        self._run = run
        self._platform = platform
        self._claims = Claims(control.store)
        self._revision = -1
        self._due = self._swept = 0.0
        self._hurry = threading.Event()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self.failures: deque[str] = deque(maxlen=20)
        """What went wrong lately, without addresses: they may hold a token."""
        self.accepted = 0
        """Questions that this process was to tell of."""

    def start(self) -> None:
        self._thread = threading.Thread(target=self._watch, name="holdfast-notify", daemon=True)
        self._thread.start()

    def look(self) -> None:
        self._hurry.set()

    def close(self) -> None:
        """Nobody waits for a message that is under way; another process tries again if it does not arrive."""
        self._end.set()
        self._hurry.set()
        if self._thread is not None:
            self._thread.join(timeout=1.0)

    def _watch(self) -> None:
        trouble = ""
        while not self._end.is_set():
            try:
                self.round()
                trouble = ""
            except Exception as error:
                if not self._end.is_set() and trouble != str(error):
                    trouble = str(error)
                    print(f"notifications: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
            self._hurry.wait(LOOK_SECONDS)
            self._hurry.clear()

    def round(self) -> None:
        """Look once, and tell of what is this process's to tell."""
        ways = self._ways()
        if not ways:
            return
        store, now = self._control.store, self._control.clock()
        revision = store.revision()
        if revision == self._revision and now < self._due:
            return
        self._revision, self._due = revision, now + SECONDS
        if now - self._swept > SWEEP_SECONDS:
            self._swept = now
            self._claims.sweep(now)
        for approval in reversed(store.approvals(status="pending", limit=MOST_WAITING)):
            if self._end.is_set():
                return
            self._tell(approval, ways)

    def _tell(self, approval: Approval, ways: tuple[str, ...]) -> None:
        now = self._control.clock()
        if now - approval.created_at > _OLD:
            return  # whoever was to be told has been
        if now - approval.created_at < self._patience():
            self._due = now
            return
        claim = self._claims.take(approval.id, ways, now)
        if claim is None:
            return
        self.accepted += 1
        left = [way for way in claim.ways if self._still_waits(approval) and not self._sent(way, approval)]
        self._claims.done(claim, left, self._control.clock())

    def _still_waits(self, approval: Approval) -> bool:
        current = self._control.store.approval(approval.id)
        return current is not None and current.status == "pending"

    def _sent(self, way: str, approval: Approval) -> bool:
        send = {"webhook": self._webhook, "ntfy": self._ntfy, "desktop": self._desktop}[way]
        try:
            send(approval)
        except Exception as error:
            self.failures.append(f"{way}: {type(error).__name__}")
            print(f"a notification could not be sent ({self.failures[-1]})", file=sys.stderr, flush=True)
            return False
        return True

    def _ways(self) -> tuple[str, ...]:
        settings = self._control.settings.runtime.notify
        return tuple(way for way in ("webhook", "ntfy", "desktop") if getattr(settings, way))

    def _said(self, approval: Approval) -> str:
        row = self._control.store.session(approval.where.session)
        tool = approval.tool.translate(_CLEAN)[:60]
        host = row.host if row is not None else approval.host
        return WAITS(tool=tool, host=host or "?").text(self._control.language(approval.vault))

    def _webhook(self, approval: Approval) -> None:
        body = {
            "event": "approval_waits",
            "approval": approval.id,
            "tool": approval.tool[:60],
            "policy": approval.policy,
            "agent": approval.where.agent,
            "createdAt": approval.created_at,
            "deadline": approval.deadline,
            "text": self._said(approval),
            "page": self._page(),
        }
        url = self._control.settings.runtime.notify.webhook
        _post(url, json.dumps(body).encode(), {"content-type": "application/json"})

    def _ntfy(self, approval: Approval) -> None:
        page = self._page()
        headers = {"title": "Holdfast", "tags": "raised_hand", **({"click": page} if page else {})}
        _post(self._control.settings.runtime.notify.ntfy, self._said(approval).encode(), headers)

    def _desktop(self, approval: Approval) -> None:
        text = self._said(approval)
        if self._platform == "darwin":
            script = 'on run argv\ndisplay notification (item 1 of argv) with title "Holdfast"\nend run'
            command = ["osascript", "-e", script, text]
        else:
            command = ["notify-send", "--app-name=Holdfast", "--", "Holdfast", text]
        self._run(command, timeout=SECONDS, check=True, stdin=subprocess.DEVNULL, capture_output=True)


def _post(url: str, body: bytes, headers: Mapping[str, str]) -> None:
    if not url:
        return  # taken out of the configuration meanwhile
    import httpx

    from holdfast.trust import system_trust

    # What stands in the answer is nobody's business: a receiver that never comes to its end holds nothing up.
    with httpx.stream(
        "POST", url, content=body, headers=dict(headers), timeout=SECONDS, verify=system_trust()
    ) as answer:
        answer.raise_for_status()
