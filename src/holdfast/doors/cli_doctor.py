"""`holdfast doctor`: every check that any part of the program offers; each finding with its fix."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING

import click

from holdfast.doors.context import Context, pass_context
from holdfast.doors.lazy_group import EXIT_PROBLEM, EXIT_USAGE, Failure
from holdfast.doors.output import emit, json_option, visible

if TYPE_CHECKING:
    from holdfast.core.health import Health
    from holdfast.core.messages import Language
    from holdfast.store.health import Check, Patient

# Modules with `CHECKS`; one that is not there (a part that is not installed) is passed over.
CHECK_MODULES = (
    "holdfast.doors.doctor_machine",
    "holdfast.store.health",
    "holdfast.runtime.health",
    "holdfast.hosts.doctor",
    "holdfast.doors.doctor_daemon",
)
MARKS = {
    "en": {"ok": "ok     ", "warning": "warning", "problem": "PROBLEM"},
    "zh": {"ok": "正常   ", "warning": "警告   ", "problem": "问题   "},
}


@click.command()
@click.argument("names", nargs=-1, metavar="[CHECK]...")
@json_option
@pass_context
def doctor(context: Context, names: tuple[str, ...], as_json: bool) -> None:
    """Find what is wrong, and how to mend it. CHECK narrows it to some checks; nothing is changed.

    Exit code 1 when there is a problem; a warning alone gives 0.
    """
    checks = all_checks()
    known = [check.name for check in checks]
    if strange := [name for name in names if name not in known]:
        raise Failure(f"no check {strange[0]!r}; there are: {', '.join(known)}", EXIT_USAGE)
    findings = list(examine([check for check in checks if not names or check.name in names], patient_of(context)))
    bad = [finding for finding in findings if finding.level == "problem"]
    data = {"healthy": not bad, "findings": [finding.to_dict() for finding in findings]}
    emit(data, _lines(findings, context.language), as_json)
    if bad:
        raise click.exceptions.Exit(EXIT_PROBLEM)


def all_checks() -> list[Check]:
    found: list[Check] = []
    for name in CHECK_MODULES:
        if importlib.util.find_spec(name) is not None:
            found += import_module(name).CHECKS
    return found


def patient_of(context: Context) -> Patient:
    from holdfast.store.health import Patient
    from holdfast.store.home import VaultError

    try:
        vault = context.vault()
    except VaultError:
        vault = None
    return Patient(context.home, context.inline, vault)


def examine(checks: list[Check], patient: Patient) -> Iterator[Health]:
    """A check that fails itself is a finding, not the end of the examination."""
    from holdfast.core.health import Health
    from holdfast.core.messages import Phrase, plain

    CHECK_FAILED = Phrase("doctor.check_failed", "this check failed: {error}", "此检查自身失败：{error}")
    REPORT = Phrase(
        "doctor.report",
        "mend what it says; if nothing helps, report it as a fault",
        "按其所说处理；若无济于事，请作为缺陷报告",
    )
    for check in checks:
        try:
            yield from check.look(patient)
        except Exception as error:
            said = CHECK_FAILED(error=plain(f"{type(error).__name__}: {error}"))
            yield Health(check.name, "problem", said, REPORT())


def _lines(findings: list[Health], language: Language) -> Iterator[str]:
    for finding in findings:
        yield f"{MARKS[language][finding.level]}  {finding.check}: {visible(finding.what.text(language))}"
        if finding.fix:
            yield f"         -> {finding.fix.text(language)}"
