"""Answers a question and dies at a given moment, as a machine would: no clean-up, no word."""

import os
import sys
from pathlib import Path

from holdfast.approvals import Approvals
from holdfast.control import Control
from holdfast.store.home import Home

root, approval, moment = sys.argv[1:]
control = Control.open(Home(Path(root)))


def dying():
    os._exit(9)


def new_id():
    return dying() if moment == "before" else control.new_id()


def write_rule(rule):
    return dying() if moment == "rule" else control.write_rule(rule)


Approvals(control.plane, clock=control.clock, new_id=new_id, write_rule=write_rule).answer(approval, "always", by="ada")
