"""One of several processes that answer the same questions at the same moment; run by test_approvals_processes.py."""

import json
import sys
from pathlib import Path

from holdfast.control import Control
from holdfast.store.home import Home
from holdfast.store.interface import AlreadyDecided
from starting_together import wait_for_the_others

ANSWERS = ("once", "always", "for_a_while", "deny")


def main(home: Path, me: int, questions: list[str]) -> dict:
    control = Control.open(Home(home))
    wait_for_the_others(home, me)
    won: list[str] = []
    told: list[str] = []
    # every process begins elsewhere, so that each question is contested
    for question in (*questions[me:], *questions[:me]):
        try:
            control.approvals.answer(question, ANSWERS[me % len(ANSWERS)], by=f"person {me}", message=f"from {me}")
            won.append(question)
        except AlreadyDecided as error:
            told.append(error.approval.id)
    control.close()
    return {"me": me, "won": won, "told": told}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[3]))))
