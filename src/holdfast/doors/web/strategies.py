"""Session strategies by agent family (SC9): what holds for each host, and families as the user's file has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

from holdfast.core.decode import Path, decode, encode, fields_of
from holdfast.core.messages import Phrase
from holdfast.core.settings import Breed, HybridSettings, SessionStrategy, Settings, Thresholds
from holdfast.core.strategy import COMPACTS_AT, FAMILIES, HOST_DEFAULTS, SIGNALS, Who, effective
from holdfast.doors.web import setting_shapes as shapes
from holdfast.doors.web.chains import marks_data
from holdfast.doors.web.records import Answer, Records, invalid, refusal
from holdfast.doors.web.routes import ApiError, Call, Route, not_found
from holdfast.doors.web.settings import write
from holdfast.store.config_layers import value_in
from holdfast.store.config_problems import ConfigError
from holdfast.store.config_write import ConfigWriteError, insert_item

STEP = 0.01
_INLINE = Phrase(
    "page.family_inline",
    "the family {name} is given by environment or command line; change it there",
    "家族 {name} 由环境变量或命令行给出；请在那里更改",
)
BREEDS: Path = ("breeds",)
_STRATEGY = ("features", "sessionStrategy")
# name in the request -> place in a family
_PLACES: Mapping[str, Path] = {
    "match": ("match",),
    "sessionChain": ("features", "sessionChain"),
    "strategy": (*_STRATEGY, "strategy"),
    "warn": (*_STRATEGY, "thresholds", "warn"),
    "action": (*_STRATEGY, "thresholds", "action"),
    "maxCompressions": (*_STRATEGY, "hybrid", "maxCompressions"),
    "budgetReserve": (*_STRATEGY, "budgetReserve"),
}


class MatchBody(TypedDict, total=False):
    host: str
    agent: str
    model: str


class FamilyBody(TypedDict, total=False):
    match: MatchBody | None
    sessionChain: bool
    strategy: Literal["handoff", "compress", "hybrid"] | None
    warn: float
    action: float
    maxCompressions: int
    budgetReserve: int | None


def list_strategies(call: Call) -> Answer:
    return _data(call.server.records)


def _data(records: Records) -> Answer:
    config = records.control.config
    settings = config.settings
    own = _own(records)
    return {
        "hosts": [_host(settings, host) for host in HOST_DEFAULTS],
        "families": [
            _family(breed, config.origin((*BREEDS, number)).line, breed.id in own)
            for number, breed in enumerate(settings.breeds)
        ],
        "known": dict(FAMILIES),
        "limits": {
            "warn": _limits(Thresholds, "warn"),
            "action": _limits(Thresholds, "action"),
            "maxCompressions": _limits(HybridSettings, "maxCompressions"),
            "budgetReserve": _limits(SessionStrategy, "budgetReserve"),
            "step": STEP,
        },
    }


def _host(settings: Settings, host: str) -> Answer:
    point = COMPACTS_AT.get(host)
    return {
        **marks_data(effective(settings, Who(host))),
        "host": host,
        "default": HOST_DEFAULTS[host],
        "signal": SIGNALS.get(host, "no"),
        "compactsAt": point and {"share": point[0], "less": point[1]},
    }


def _family(breed: Breed, line: int | None, editable: bool) -> Answer:
    strategy = breed.features.session_strategy
    return {
        "id": breed.id,
        "match": breed.match and encode(breed.match),
        "sessionChain": breed.features.session_chain,
        "strategy": strategy.strategy,
        "warn": strategy.thresholds.warn,
        "action": strategy.thresholds.action,
        "maxCompressions": strategy.hybrid.max_compressions,
        "budgetReserve": strategy.budget_reserve,
        "line": line,
        "editable": editable,
    }


def _limits(kind: type, name: str) -> Answer:
    metadata = fields_of(kind)[name][0].metadata
    return {"min": metadata.get("min"), "max": metadata.get("max")}


def _own(records: Records) -> dict[str, int]:
    """The families of the user's file, by name, with their places in it."""
    config = records.control.config
    layer = next((layer for layer in config.layers if layer.source == str(config.path)), None)
    listed = value_in(layer.data, BREEDS)[1] if layer is not None else None
    return {str(breed["id"]): place for place, breed in enumerate(listed or ())}


def change_family(call: Call) -> Answer:
    """Write a family, or make it; warn must stay below action, whatever is changed first."""
    records, name, change = call.server.records, call.path["family"], dict(call.body)
    own = _own(records)
    if name in own:
        _change(records, own[name], _listed(records, own[name]), change)
    else:
        if any(breed.id == name for breed in records.control.settings.breeds):
            raise ApiError(409, "overridden", _INLINE(name=repr(name)), key=f"breeds {name}", source="inline")
        plain = _merged({"id": name}, change)
        _require_valid(plain)
        try:
            insert_item(records.control.home.config, BREEDS, len(own), plain)
        except (ConfigError, ConfigWriteError) as error:
            raise refusal(error) from None
    return _data(records)


def _listed(records: Records, place: int) -> dict[str, Any]:
    config = records.control.config
    layer = next(layer for layer in config.layers if layer.source == str(config.path))
    return dict(value_in(layer.data, (*BREEDS, place))[1])


def _change(records: Records, place: int, before: dict[str, Any], change: Mapping[str, Any]) -> None:
    _require_valid(_merged(before, change))
    was = _thresholds(before)
    names = sorted(change, key=list(_PLACES).index)
    if "warn" in change and change["warn"] >= was.action and "action" in change:
        # The upper mark first: between the two steps warn must be below action as well.
        names.remove("action")
        names.insert(names.index("warn"), "action")
    for name in names:
        path = (*BREEDS, place, *_PLACES[name])
        write(records, path, change[name], unset=change[name] is None)


def _thresholds(plain: Mapping[str, Any]) -> Thresholds:
    breed, _ = decode(Breed, plain)
    return breed.features.session_strategy.thresholds if breed is not None else Thresholds()


def _merged(before: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """The family as it would stand in the file."""
    result: dict[str, Any] = encode(before)
    for name, value in change.items():
        place: dict[str, Any] = result
        *parents, last = (str(part) for part in _PLACES[name])
        for part in parents:
            place = place.setdefault(part, {})
        if value is None:
            place.pop(last, None)
        else:
            place[last] = value
    return result


def _require_valid(plain: Mapping[str, Any]) -> None:
    _, problems = decode(Breed, plain, (*BREEDS, str(plain["id"])))
    if problems:
        raise invalid(problems[0].where(), problems[0].message)


def remove_family(call: Call) -> Answer:
    records, name = call.server.records, call.path["family"]
    own = _own(records)
    if name not in own:
        raise not_found("family", name)
    write(records, (*BREEDS, own[name]), unset=True)
    return _data(records)


ROUTES = (
    Route("GET", "/api/strategies", list_strategies, "Session strategies", returns=shapes.Strategies),
    Route(
        "PUT", "/api/strategies/{family}", change_family, "Change a family's strategy",
        body=FamilyBody, returns=shapes.Strategies,
    ),
    Route("DELETE", "/api/strategies/{family}", remove_family, "Take a family away", returns=shapes.Strategies),
)  # fmt: skip
