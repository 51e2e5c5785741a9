"""Tells the user that something waits, where they asked to be told: a webhook, ntfy, the desktop.

Only what the user's own file says is used; a vault cannot set an address. What is sent names the tool, the host and the
thread's agent, and never the arguments: those may hold secrets, and they go to a stranger's machine.
"""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from holdfast.core.messages import Phrase
from holdfast.core.settings import NotifySettings
from holdfast.store.interface import Approval

if TYPE_CHECKING:
    from holdfast.control import Control

SECONDS = 10.0
MOST_WAITING = 100
_OLD = 600.0
WAITS = Phrase("notify.waits", "{tool} waits for your answer ({host}).", "{tool} 正在等待你的答复（{host}）。")
_CLEAN = str.maketrans(dict.fromkeys(map(chr, (*range(32), 127)), " "))


class Notifier:
    """`waits` returns at once; sending happens in one thread of its own, each with a deadline."""

    def __init__(
        self, control: Control, page_url: str, *, run: Callable[..., Any] = subprocess.run, platform: str = sys.platform
    ) -> None:
        self._control = control
        self._page = page_url
        self._run = run
        self._platform = platform
        self._waiting: queue.Queue[Approval | None] = queue.Queue(MOST_WAITING)
        self._thread: threading.Thread | None = None
        self._seen: deque[str] = deque(maxlen=1000)
        self.failures: deque[str] = deque(maxlen=20)
        """What went wrong lately, without addresses: they may hold a token."""
        self.accepted = 0
        """Questions that somebody was to be told of."""

    def waits(self, approval: Approval) -> None:
        settings = self._settings()
        if not (settings.webhook or settings.ntfy or settings.desktop) or approval.id in self._seen:
            return
        self._seen.append(approval.id)
        if self._control.clock() - approval.created_at > _OLD:
            return  # it waited before this server was started; whoever was to be told has been
        if self._thread is None:
            self._thread = threading.Thread(target=self._send_all, name="holdfast-notify", daemon=True)
            self._thread.start()
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait(approval)
            self.accepted += 1

    def close(self) -> None:
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait(None)

    def _settings(self) -> NotifySettings:
        return self._control.settings.runtime.notify

    def _send_all(self) -> None:
        while (approval := self._waiting.get()) is not None:
            for send in (self._webhook, self._ntfy, self._desktop):
                try:
                    send(approval)
                except Exception as error:
                    self.failures.append(f"{send.__name__.strip('_')}: {type(error).__name__}")
                    print(f"a notification could not be sent ({self.failures[-1]})", file=sys.stderr)

    def _said(self, approval: Approval) -> str:
        row = self._control.store.session(approval.where.session)
        tool = approval.tool.translate(_CLEAN)[:60]
        host = row.host if row is not None else approval.host
        return WAITS(tool=tool, host=host or "?").text(self._control.language(approval.vault))

    def _webhook(self, approval: Approval) -> None:
        url = self._settings().webhook
        if url:
            body = {
                "event": "approval_waits",
                "approval": approval.id,
                "tool": approval.tool[:60],
                "policy": approval.policy,
                "agent": approval.where.agent,
                "createdAt": approval.created_at,
                "deadline": approval.deadline,
                "text": self._said(approval),
                "page": self._page,
            }
            _post(url, json.dumps(body).encode(), {"content-type": "application/json"})

    def _ntfy(self, approval: Approval) -> None:
        url = self._settings().ntfy
        if url:
            headers = {"title": "Holdfast", "tags": "raised_hand", "click": self._page}
            _post(url, self._said(approval).encode(), headers)

    def _desktop(self, approval: Approval) -> None:
        if not self._settings().desktop:
            return
        text = self._said(approval)
        if self._platform == "darwin":
            script = 'on run argv\ndisplay notification (item 1 of argv) with title "Holdfast"\nend run'
            command = ["osascript", "-e", script, text]
        else:
            command = ["notify-send", "--app-name=Holdfast", "--", "Holdfast", text]
        self._run(command, timeout=SECONDS, check=True, stdin=subprocess.DEVNULL, capture_output=True)


def _post(url: str, body: bytes, headers: Mapping[str, str]) -> None:
    import httpx

    answer = httpx.post(url, content=body, headers=dict(headers), timeout=SECONDS, follow_redirects=False)
    answer.raise_for_status()
