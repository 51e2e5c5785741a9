"""What the doctor can tell about the daemon: whether it answers, in which version, and for whom."""

from __future__ import annotations

import time
from collections.abc import Iterator

from holdfast._version import __version__
from holdfast.core.health import Health
from holdfast.doors.daemon_process import greeting
from holdfast.store.attached import manifests
from holdfast.store.health import Check, Patient
from holdfast.store.orders import Orders


def check_daemon(patient: Patient) -> Iterator[Health]:
    said = greeting(patient.home)
    wanted = sorted({manifest.host for manifest in manifests(patient.home)})
    if said is not None and said.get("holdfast") != __version__:
        what = f"the daemon is of version {said.get('holdfast')}, this program of {__version__}"
        yield Health("daemon", "warning", what, "run: holdfast daemon stop; it starts again by itself")
    elif said is not None:
        yield Health("daemon", "ok", f"answers (process {said.get('pid')})")
    elif wanted:
        what = f"does not run; the next prompt in {', '.join(wanted)} starts it"
        yield Health("daemon", "ok", what)
    else:
        yield Health("daemon", "ok", "does not run, and nothing is attached that needs it")


def check_orders(patient: Patient) -> Iterator[Health]:
    orders = Orders(patient.home)
    if orders.of("") == "panic":
        yield Health("orders", "warning", "everything is stopped by `holdfast panic`", "run: holdfast panic off")
    for pause in orders.pauses(time.time()):
        minutes = max(1, round((pause.until - time.time()) / 60))
        fix = f"run: holdfast pause {pause.host} off"
        yield Health("orders", "warning", f"{pause.host} is not guarded for {minutes} min more", fix)


CHECKS = (Check("daemon", check_daemon), Check("orders", check_orders))
