"""Hosts and the machine, as the doctor sees them: the checks of `holdfast doctor`, within a deadline."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from holdfast.core.health import Health, Level
from holdfast.doors.cli_doctor import all_checks, examine
from holdfast.doors.web import setting_shapes as shapes
from holdfast.doors.web.records import Answer
from holdfast.doors.web.routes import Call, Route, not_found
from holdfast.hosts.attach.service import INSTALLERS
from holdfast.hosts.attach.spec import find_program
from holdfast.store.attached import manifests
from holdfast.store.health import Patient

SECONDS = 25.0
_LEVELS: tuple[Level, ...] = ("problem", "warning", "ok")


def report(call: Call) -> Answer:
    """Every check, or one; those for which no time is left are not begun."""
    records, wanted = call.server.records, call.query["check"]
    home = records.control.home
    checks = [check for check in all_checks() if wanted in (None, check.name)]
    if not checks:
        raise not_found("check", str(wanted))
    patient = Patient(home, records.inline, Path(records.vault) if records.vault else None)
    end = time.monotonic() + SECONDS
    findings: list[Health] = []
    done = 0
    for check in checks:
        if time.monotonic() > end:
            break
        findings += examine([check], patient)
        done += 1
    attached = {manifest.host for manifest in manifests(home)}
    hosts = [name for name in INSTALLERS if wanted in (None, name)]
    return {
        "healthy": all(finding.level != "problem" for finding in findings),
        "at": records.control.clock(),
        "hosts": [_host(host, host in attached, [f for f in findings if _is_about(f, host)]) for host in hosts],
        "findings": [_finding(f) for f in findings if not any(_is_about(f, host) for host in INSTALLERS)],
        "complete": done == len(checks),
    }


def _finding(finding: Health) -> Answer:
    fix = finding.fix.to_dict() if finding.fix else None
    return {"check": finding.check, "level": finding.level, "what": finding.what.to_dict(), "fix": fix}


def _is_about(finding: Health, host: str) -> bool:
    return finding.check == host or finding.check.startswith(f"{host} ")


def _host(host: str, attached: bool, findings: Sequence[Health]) -> Answer:
    levels = {finding.level for finding in findings}
    return {
        "host": host,
        "attached": attached,
        "installed": find_program(INSTALLERS[host].program, dict(os.environ)) is not None,
        "level": next((level for level in _LEVELS if level in levels), "ok"),
        "findings": [_finding(finding) for finding in findings],
    }


ROUTES = (
    Route(
        "GET", "/api/doctor", report, "What is wrong, and how to mend it",
        query={"check": str}, returns=shapes.DoctorReport,
    ),
)  # fmt: skip
