"""The daemon's worker: the plane behind the doors, and the upkeep that needs somebody who is always there."""

from __future__ import annotations

import os
import signal
import sys
import threading

from holdfast.chain.chain import Chain
from holdfast.chain.embeddings import search_of
from holdfast.control import Control
from holdfast.doors.daemon import Daemon
from holdfast.doors.daemon_doors import Doors, is_still_ours
from holdfast.doors.notify import Notifier
from holdfast.hosts.checkpoints import Checkpoints
from holdfast.hosts.registry import gateway_for, open_control
from holdfast.store.config_file import Inline
from holdfast.store.home import Home
from holdfast.store.interface import StoreError
from holdfast.store.page_processes import page_ports
from holdfast.store.search_keeper import KeepFresh
from holdfast.store.wal_room import make_room

_EXPIRE_SECONDS = 10.0
_DAY_SECONDS = 24 * 3600.0
_INDEX_SECONDS, _INDEX_BUDGET = 5.0, 0.2
"""Hooks come first: a search adds what is not indexed yet by itself."""

_PAGE_FIRST_SECONDS = 3.0
"""A page's own server knows by which address the user reaches it, so it may tell of a question first."""

_SWITCH_SECONDS = 0.0005
"""A hook that has come in takes its turn from work that nobody waits for; Python would let it wait ten times longer."""


def work(home: Home, doors: Doors, token: str) -> int:
    """Serve until told to stop, or until the home is gone."""
    stopping = _told_by_signals()
    sys.setswitchinterval(_SWITCH_SECONDS)
    # It may have been started by a host's hook, and serves the others too: its own environment configures nothing.
    control = open_control(
        home, inline=Inline(environ={}), on_problem=lambda error: print(error, file=sys.stderr, flush=True)
    )
    _make_room(control)
    gateway = gateway_for(control)

    daemon = Daemon(doors, gateway.answer, token=token, stopping=stopping)
    upkeep = threading.Thread(target=_upkeep, args=(home, doors, control, stopping), name="upkeep", daemon=True)
    reaper = Chain(control).reaper(on_error=lambda error: _say("reaper", error))
    notifier = Notifier(control, lambda: _page(home), patience=lambda: _PAGE_FIRST_SECONDS if page_ports(home) else 0.0)
    index = KeepFresh(search_of(control.store, control.home), every=_INDEX_SECONDS, budget=_INDEX_BUDGET)
    reaper.start()
    notifier.start()
    index.start()
    upkeep.start()
    try:
        daemon.serve()
    finally:
        upkeep.join(1.0)
        notifier.close()
        index.stop(1.0)
        reaper.stop(1.0)
        control.close()
    return 0


def _told_by_signals() -> threading.Event:
    """Set at the first SIGTERM or SIGINT.

    By a thread that reads the signals' numbers, and not by their handlers: those run anywhere in the main thread, also
    in the middle of one another, and an event's lock that is held there already is held for ever. Two come at once
    whenever the keeper passes one on.
    """
    told = threading.Event()
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)

    def read() -> None:
        os.read(reading, 1)
        told.set()

    threading.Thread(target=read, name="signals", daemon=True).start()
    return told


def _say(part: str, error: Exception) -> None:
    print(f"{part}: {type(error).__name__}: {error}", file=sys.stderr, flush=True)


def _upkeep(home: Home, doors: Doors, control: Control, stopping: threading.Event) -> None:
    """Questions expire though nobody waits, old outputs go (TR5), and a home that was removed has no daemon."""
    swept = 0.0
    while True:
        if not is_still_ours(home.run, doors):
            stopping.set()
            return
        try:
            control.approvals.expire_due()
            now = control.clock()
            if now - swept > _DAY_SECONDS:
                swept = now
                _daily(control)
        except Exception as error:
            _say("upkeep", error)
        if stopping.wait(_EXPIRE_SECONDS):
            return


def _page(home: Home) -> str:
    return next((f"http://127.0.0.1:{port}" for port in page_ports(home)), "")


def _make_room(control: Control) -> None:
    try:
        make_room(control.home.database)
    except StoreError as error:  # it was only for speed
        _say("room in the log", error)


def _daily(control: Control) -> None:
    control.sweep_outputs()
    Checkpoints(control.home).sweep(control.clock())
