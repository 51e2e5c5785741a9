"""Models: which there are, how large their windows are and from where that is known, and whether a key is there."""

from __future__ import annotations

from holdfast.core.model_table import MODELS, find_model
from holdfast.core.settings import ModelSettings, RuntimeSettings
from holdfast.doors.web import setting_shapes as shapes
from holdfast.doors.web.records import Answer, Records
from holdfast.doors.web.routes import Call, Route
from holdfast.model_endpoints import OFFLINE, choose, is_local, key_source

MOST_MODELS = 200


def list_models(call: Call) -> Answer:
    """The configured ones, the one in use, and the offline model; the table is for everything else."""
    records = call.server.records
    runtime = records.control.settings.runtime
    current = runtime.model or OFFLINE
    names = list(dict.fromkeys((current, *sorted(runtime.models), OFFLINE)))[:MOST_MODELS]
    table = [
        {"pattern": known.pattern, "window": known.window, "output": known.output, "managed": known.managed}
        for known in MODELS
    ]
    return {
        "current": current,
        "models": [_row(records, runtime, name, name == current) for name in names],
        "table": table,
    }


def _row(records: Records, runtime: RuntimeSettings, name: str, current: bool) -> Answer:
    choice = choose(runtime, name)
    own = runtime.models.get(name, ModelSettings())
    known = find_model(name)
    counts = own.custom_context is not None and not choice.managed
    return {
        "name": name,
        "current": current,
        "configured": name in runtime.models,
        "offline": choice.offline,
        "baseUrl": choice.base_url,
        "api": choice.api,
        "local": choice.offline or is_local(choice.base_url),
        "window": choice.window,
        "windowSource": "custom" if counts else "table" if known is not None else "unknown",
        "customContext": own.custom_context,
        "managed": choice.managed,
        "maxOutput": choice.max_output if choice.max_output is not None else known and known.output,
        "inputPrice": choice.input_price,
        "outputPrice": choice.output_price,
        "needsKey": choice.needs_key,
        "keyName": choice.key_name,
        "keySource": key_source(choice, records.control.home),
    }


ROUTES = (Route("GET", "/api/models", list_models, "Models and their windows", returns=shapes.Models),)
