"""What the routes work with: one open Holdfast, the stream, the devices, and where work that blocks is done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from holdfast.control import Control
from holdfast.doors.notify import Notifier
from holdfast.doors.web.cards import Cards
from holdfast.doors.web.catching_up import next_numbers
from holdfast.doors.web.desk import Desk
from holdfast.doors.web.devices import Codes, Devices
from holdfast.doors.web.hub import Hub
from holdfast.doors.web.items import Items
from holdfast.doors.web.records import Records
from holdfast.doors.web.security import Address
from holdfast.doors.web.static_files import StaticFiles, built_page
from holdfast.doors.web.tickets import Tickets
from holdfast.doors.web.watch import Watch
from holdfast.store.config_file import Inline
from holdfast.store.home import Home
from holdfast.store.orders import put_on_record

T = TypeVar("T")
WORKERS = 24
WORK_SECONDS = 60.0
UPLOAD_LIMIT = 50 << 20


class Server:
    """Opened once for a process; `close` when done."""

    def __init__(
        self,
        control: Control,
        *,
        address: Address,
        vault: Path | None,
        cwd: Path | None = None,
        inline: Inline | None = None,
        static: StaticFiles | None = None,
    ) -> None:
        self.control = control
        self.address = address
        self.vault = vault
        """Where a new thread works; None when the server was started where no vault can be."""
        self.cwd = cwd or vault
        self.inline = inline or Inline()
        self.upload_limit = UPLOAD_LIMIT
        self.hub = Hub(first=next_numbers(control.store), clock=control.clock)
        self.codes = Codes(control.clock)
        self.devices = Devices(control.store, control.clock)
        self.static = static or built_page()
        self.tickets = Tickets(control.clock)
        self.records = Records(control, str(vault or ""), self.inline)
        self.cards = Cards(control.store)
        self.desk = Desk(self)
        self.items = Items(control.store, self.desk.is_driven)
        self.notifier = Notifier(control, lambda: address.public_url or address.url)
        self.watch = Watch(self)
        self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="page")
        self._closers: list[Callable[[], None]] = []

    @property
    def home(self) -> Home:
        return self.control.home

    @property
    def cookie(self) -> str:
        """Cookies do not tell ports apart; two servers on one machine must not overwrite each other's."""
        return f"holdfast_{self.address.port}"

    async def work(self, function: Callable[..., T], *given: Any, seconds: float = WORK_SECONDS) -> T:
        """Something that reads or writes, in a thread; the page is told when it takes too long."""
        loop = asyncio.get_running_loop()
        return await asyncio.wait_for(loop.run_in_executor(self._pool, function, *given), seconds)

    def on_record(self, what: str, **more: Any) -> None:
        """What a person did here that no session knows of, in the user's own audit."""
        control = self.control
        put_on_record(
            control.store, what=what, by=control.user, at=control.clock(), event_id=control.new_id(), more=more
        )

    def at_close(self, closer: Callable[[], None]) -> None:
        self._closers.append(closer)

    def close(self) -> None:
        self.hub.close()
        self.desk.close()
        for closer in reversed(self._closers):
            closer()
        self.notifier.close()
        self.records.close()
        self._pool.shutdown(wait=False, cancel_futures=True)
        self.control.close()
