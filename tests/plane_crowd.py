"""One of several processes that handle the calls of one session: `HOME VAULT ME CALLS SHARED`; print the answers.

Every process makes calls of its own, and asks about the same shared calls as all the others.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path

from holdfast.control import Control
from holdfast.store.home import Home
from holdfast.testing.builders import EventBuilder
from starting_together import wait_for_the_others

COMMANDS = ("echo {}", "rm /etc/{}", "make {}")
"""Allowed, denied and asked about by the rules of the test."""


def answers(home: Path, vault: str, me: int, calls: int, shared: int) -> dict:
    control = Control.open(Home(home))
    build = EventBuilder(cwd=vault)
    own, common = [], []
    try:
        wait_for_the_others(home, me)
        for number in range(calls):
            command = COMMANDS[number % 3].format(f"{me}-{number}")
            call = build.call("bash", call_id=f"own-{me}-{number}", command=command)
            outcome = control.plane.handle(replace(build.calling(call), id=f"e-{me}-{number}"))
            own.append([outcome.decision, outcome.again, outcome.reason()])
            if number < shared:
                call = build.call("bash", call_id=f"shared-{number}", command=COMMANDS[number % 3].format(f"s{number}"))
                outcome = control.plane.handle(replace(build.calling(call), id=f"s-{me}-{number}"))
                common.append([outcome.decision, outcome.again, outcome.approval])
    finally:
        control.close()
    return {"own": own, "shared": common}


if __name__ == "__main__":
    home, vault, *numbers = sys.argv[1:]
    print(json.dumps(answers(Path(home), vault, *map(int, numbers))))
