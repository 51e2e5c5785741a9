"""UI1: the OpenAPI document says what the server does, no more and no less."""

from jsonschema import Draft202012Validator

from holdfast.doors.web.app import load_routes
from holdfast.doors.web.shapes import problem_with, schema_of


def test_UI1_every_route_is_in_the_document_and_nothing_else(client):
    told = client.get("/api/openapi.json").json()
    documented = {(method.upper(), path) for path, methods in told["paths"].items() for method in methods}
    assert documented == {(route.method, route.path) for route in load_routes()}
    assert told["openapi"].startswith("3.1")


def test_UI1_every_operation_is_described_and_its_references_lead_somewhere(client):
    told = client.get("/api/openapi.json").json()
    schemas = told["components"]["schemas"]
    seen = set()

    def walk(part):
        if isinstance(part, dict):
            if "$ref" in part:
                name = part["$ref"].rpartition("/")[2]
                assert name in schemas
                seen.add(name)
            for value in part.values():
                walk(value)
        elif isinstance(part, list):
            for value in part:
                walk(value)

    walk(told)
    assert seen == set(schemas), "a schema that nothing refers to"
    names = [operation["operationId"] for path in told["paths"].values() for operation in path.values()]
    assert len(names) == len(set(names))
    for path, methods in told["paths"].items():
        for operation in methods.values():
            assert operation["summary"], path
            declared = {one["name"] for one in operation["parameters"] if one["in"] == "path"}
            assert declared == {part[1:-1] for part in path.split("/") if part.startswith("{")}
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)


def test_UI1_our_own_check_of_bodies_agrees_with_the_schemas():
    values = [
        {}, {"answer": "once"}, {"answer": "x"}, {"answer": "always", "rules": []}, {"answer": "deny", "message": 1},
        {"answer": "always", "rules": [{}]}, {"answer": "once", "rules": [{"domain": "a", "pattern": ""}]},
        {"text": "x"}, {"text": None}, {"mode": "agent", "confirmed": True}, {"mode": "agent", "confirmed": 1}, [], "x",
        None, {"code": "a"}, {"code": "a", "name": "b"}, {"code": True}, {"model": "m"}, {"event": "e", "text": "t"},
    ]  # fmt: skip
    for route in load_routes():
        if route.body is None:
            continue
        schema = schema_of(route.body)
        for value in values:
            assert (problem_with(value, schema) is None) == Draft202012Validator(schema).is_valid(value), (
                route.path,
                value,
            )
