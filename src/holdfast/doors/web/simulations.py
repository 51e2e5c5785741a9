"""Edited rules against everything on record: started, watched, cancelled (AU3). It runs beside the server's work."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, TypedDict

from holdfast.control import folds_case, rules_in_force
from holdfast.core.messages import Phrase
from holdfast.core.patterns import Rule
from holdfast.core.rule_templates import TEMPLATES
from holdfast.core.settings import RuleSetting
from holdfast.doors.rule_changes import own_rules, setting_of
from holdfast.doors.web import decision_shapes as shapes
from holdfast.doors.web.audit import simulation_data
from holdfast.doors.web.jobs import Job
from holdfast.doors.web.records import Answer, Records
from holdfast.doors.web.routes import ApiError, Call, Route, bad_request, not_found
from holdfast.doors.web.rules import RuleBody
from holdfast.rule_index import RuleIndex
from holdfast.simulator import simulate
from holdfast.store.config_file import LoadedConfig
from holdfast.store.config_rules import rule_problem
from holdfast.store.config_write import rule_place, rule_value

_ALL_OR_PART = Phrase(
    "page.all_or_part", "give all rules, or what to add and remove", "请给出全部规则，或给出要添加和移除的规则"
)
_TOO_MANY = Phrase("page.too_many_rules", "at most {most} rules can be tried", "最多可尝试 {most} 条规则")


SECONDS = 300.0
MOST_RULES = 2000
EDITED = "edited"


class SimulateBody(TypedDict, total=False):
    add: list[RuleBody]
    remove: list[int]
    rules: list[RuleBody]
    templates: list[str]
    since: float
    session: str


def begin(call: Call) -> Answer:
    """Begin; the answer says how far it has come, and `GET` says it again."""
    records, body = call.server.records, call.body
    session = body.get("session") or None
    if session is not None:
        records.session(session)
    index = _edited_index(records, body)
    since = body.get("since")
    total = sum(
        1
        for row in records.audit.rows()[0]
        if row.tool and session in (None, row.session) and (since is None or row.at >= since)
    )
    fold_case = folds_case(records.control.home.root)

    def work(job: Job) -> Answer:
        def entries() -> Iterator[Mapping[str, Any]]:
            for entry in records.store.audit(session=session):
                job.step()
                yield entry

        return simulation_data(simulate(entries(), index, fold_case=fold_case, since=since, progress=job.step))

    return _data(records.jobs.start(Job(SECONDS, total), work))


def _edited_index(records: Records, body: Mapping[str, Any]) -> RuleIndex:
    """The rules as they would be; refused when one of them could not be written."""
    config = records.control.config
    if "rules" in body and ("add" in body or "remove" in body):
        raise bad_request(_ALL_OR_PART(), "rules")
    own = own_rules(config)
    edits = [_checked(number, rule) for number, rule in enumerate(body.get("rules") or body.get("add") or ())]
    if len(own) + len(edits) > MOST_RULES:
        raise ApiError(422, "too_many_rules", _TOO_MANY(most=MOST_RULES))
    gone = set(body.get("remove") or ())
    if unknown := gone - set(range(len(own))):
        raise not_found("rule", str(max(unknown)))
    edited = edits if "rules" in body else _with_added([rule for rule in own if rule.index not in gone], edits)
    inline = [rule for rule in config.rules if rule.source != str(config.path)]
    changed = dataclasses.replace(config, rules=(*edited, *inline))
    return rules_in_force(_with_templates(changed, body), records.control.home)


def _with_added(rules: list[Rule], added: list[Rule]) -> list[Rule]:
    """Each new rule where it would be written: an allow above the denies (PE7)."""
    for rule in added:
        plain = [rule_value(setting_of(one)) for one in rules]
        rules.insert(rule_place(plain, rule_value(setting_of(rule))), rule)
    return rules


def _checked(number: int, body: Mapping[str, Any]) -> Rule:
    setting = RuleSetting(body["domain"], body["pattern"], body["decision"], body.get("expires"))
    if problem := rule_problem(setting):
        raise ApiError(422, "invalid_rule", problem, number=number, pattern=setting.pattern[:200])
    return setting.rule(EDITED, None, number)


def _with_templates(config: LoadedConfig, body: Mapping[str, Any]) -> LoadedConfig:
    if "templates" not in body:
        return config
    for name in body["templates"]:
        if name not in TEMPLATES:
            raise not_found("template", name)
    settings = config.settings
    permission = dataclasses.replace(settings.runtime.permission, templates=tuple(body["templates"]))
    runtime = dataclasses.replace(settings.runtime, permission=permission)
    agents = dataclasses.replace(settings.agents, runtime=runtime)
    return dataclasses.replace(config, settings=dataclasses.replace(settings, agents=agents))


def look(call: Call) -> Answer:
    return _data(call.server.records.jobs.get(call.path["job"]))


def cancel(call: Call) -> Answer:
    return _data(call.server.records.jobs.cancel(call.path["job"]))


def _data(job: Job) -> Answer:
    return {
        "id": job.id,
        "state": job.state,
        "replayed": job.done,
        "total": job.total,
        "result": job.result,
        "problem": job.problem and job.problem.to_dict(),
    }


ROUTES = (
    Route(
        "POST", "/api/rules/simulate", begin, "Past decisions under edited rules",
        body=SimulateBody, returns=shapes.SimulationJob,
    ),
    Route("GET", "/api/rules/simulate/{job}", look, "How far it has come", returns=shapes.SimulationJob),
    Route("DELETE", "/api/rules/simulate/{job}", cancel, "Stop it", returns=shapes.SimulationJob),
)  # fmt: skip
