"""What the doctor can tell about the daemon: whether it answers, in which version, and for whom."""

from __future__ import annotations

import time
from collections.abc import Iterator

from holdfast._version import __version__
from holdfast.core.health import RUN, Health
from holdfast.core.messages import Phrase
from holdfast.doors.daemon_process import greeting
from holdfast.store.attached import manifests
from holdfast.store.health import Check, Patient
from holdfast.store.orders import Orders

_OTHER_VERSION = Phrase(
    "doctor.other_version",
    "the daemon is of version {there}, this program of {here}",
    "守护进程的版本为 {there}，而本程序为 {here}",
)
_RESTART = Phrase(
    "doctor.restart_daemon",
    "run: holdfast daemon stop; it starts again by itself",
    "运行：`holdfast daemon stop`；它会自动重新启动",
)
_ANSWERS = Phrase("doctor.daemon_answers", "answers (process {pid})", "正常应答（进程 {pid}）")
_STARTS = Phrase(
    "doctor.daemon_starts",
    "does not run; the next prompt in {hosts} starts it",
    "未运行；{hosts} 中的下一条消息会启动它",
)
_NOT_NEEDED = Phrase(
    "doctor.daemon_not_needed",
    "does not run, and nothing is attached that needs it",
    "未运行，也没有接入任何需要它的宿主",
)
_PANIC = Phrase("doctor.panic", "everything is stopped by `holdfast panic`", "一切已被 `holdfast panic` 停止")
_PAUSED = Phrase(
    "doctor.paused", "{host} is not guarded for {minutes} min more", "{host} 在接下来的 {minutes} 分钟内不受管控"
)


def check_daemon(patient: Patient) -> Iterator[Health]:
    said = greeting(patient.home)
    wanted = sorted({manifest.host for manifest in manifests(patient.home)})
    if said is not None and said.get("holdfast") != __version__:
        yield Health("daemon", "warning", _OTHER_VERSION(there=said.get("holdfast"), here=__version__), _RESTART())
    elif said is not None:
        yield Health("daemon", "ok", _ANSWERS(pid=said.get("pid")))
    elif wanted:
        yield Health("daemon", "ok", _STARTS(hosts=", ".join(wanted)))
    else:
        yield Health("daemon", "ok", _NOT_NEEDED())


def check_orders(patient: Patient) -> Iterator[Health]:
    orders = Orders(patient.home)
    if orders.of("") == "panic":
        yield Health("orders", "warning", _PANIC(), RUN(command="holdfast panic off"))
    for pause in orders.pauses(time.time()):
        minutes = max(1, round((pause.until - time.time()) / 60))
        fix = RUN(command=f"holdfast pause {pause.host} off")
        yield Health("orders", "warning", _PAUSED(host=pause.host, minutes=minutes), fix)


CHECKS = (Check("daemon", check_daemon), Check("orders", check_orders))
