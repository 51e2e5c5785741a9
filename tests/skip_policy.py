"""Under CI a test may be skipped only for a reason that no installation can remove.

A skip says why by its first word: `installable:` (a program or package that is not here), `corpus:` (third-party data
that is read from beside the checkout) or `platform:` (another operating system or kernel). Under `CI=true` only the
last two are taken; any other skip, one without such a word included, is reported as a failure.
"""

import os

import pytest

TAKEN_IN_CI = ("corpus:", "platform:")


def _fail_if_removable(report: pytest.TestReport | pytest.CollectReport) -> None:
    if os.environ.get("CI") != "true" or not report.skipped or hasattr(report, "wasxfail"):
        return
    # pytest stores a skip as (file, line, "Skipped: <reason>")
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    reason = text.removeprefix("Skipped: ").strip()
    if not reason.startswith(TAKEN_IN_CI):
        report.outcome = "failed"
        report.longrepr = (
            f"CI does not take this skip: {reason!r}. Install what is missing; if nothing installable would help, "
            f"begin the reason with one of {', '.join(TAKEN_IN_CI)}"
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    _fail_if_removable(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    _fail_if_removable(report)
    return report
