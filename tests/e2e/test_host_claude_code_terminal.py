"""Holdfast inside the real Claude Code in a terminal: where somebody sits, the host's own dialog asks."""

from __future__ import annotations

import json

import pytest

from e2e.installed_clis import requires_cli
from e2e.tmux_screen import Screen

pytestmark = [pytest.mark.e2e, requires_cli("claude-code")]


def at_the_terminal(kit):
    """Claude Code as it looks to somebody who has used it here before."""
    known = {
        "hasCompletedOnboarding": True,
        "lastOnboardingVersion": "2.1.325",
        "theme": "dark",
        "numStartups": 3,
        "customApiKeyResponses": {"approved": ["dummy"], "rejected": []},
        "projects": {
            str(kit.workspace): {
                "hasTrustDialogAccepted": True,
                "hasCompletedProjectOnboarding": True,
                "projectOnboardingSeenCount": 3,
            }
        },
    }
    (kit.host.home / ".claude.json").write_text(json.dumps(known))
    program = kit.host.program("node_modules/@anthropic-ai/claude-code-*/claude")
    environment = {**kit.host.environment(), "TERM": "xterm-256color"}
    return Screen([program, "--permission-mode", "manual"], cwd=kit.workspace, env=environment)


def test_HO5_in_a_terminal_the_hosts_own_dialog_asks_and_its_answer_counts(attached):
    kit = attached("claude-code")
    kit.play(kit.bash("touch first"), "first done", kit.bash("touch second"), "second done", "third done", then="ok")
    approvals = kit.it.control.store.approvals

    def mine(status):
        return [a for a in approvals(status=status) if a.where.session in kit.it.sessions()]

    with at_the_terminal(kit) as screen:
        screen.wait_for("manual mode on")
        screen.enter("run the first")
        shown = screen.wait_for("Running `touch first` needs a person's approval.")
        assert "Do you want to proceed?" in shown
        assert len(mine("pending")) == 1, "the same question stands in the inbox"
        assert not (kit.workspace / "first").exists()
        screen.press_until("Enter", "first done")
        assert (kit.workspace / "first").exists()
        assert kit.it.wait_for(lambda: mine("answered"), 30)
        (answered,) = mine("answered")
        assert (answered.answer, answered.answered_by) == ("once", "claude-code dialog")

        screen.enter("run the second")
        screen.wait_for("Running `touch second` needs a person's approval.")
        screen.wait_for("Do you want to proceed?")
        screen.press_until("Escape", "What should Claude do instead?")
        screen.enter("never mind")
        screen.wait_for("second done")
        assert not (kit.workspace / "second").exists()
        assert kit.it.wait_for(lambda: mine("cancelled"), 30), "a question that nobody will answer is closed"
        assert mine("pending") == []
