"""In the OpenAPI document a shape is known by its name, so no two may share one."""

from collections import defaultdict
from typing import get_args, get_type_hints, is_typeddict

from holdfast.doors.web.app import load_routes


def shapes(shape, found):
    if is_typeddict(shape):
        if shape not in found[shape.__name__]:
            found[shape.__name__].add(shape)
            for inner in get_type_hints(shape).values():
                shapes(inner, found)
        return
    for inner in get_args(shape):
        shapes(inner, found)


def test_UI1_every_shape_has_a_name_of_its_own():
    found = defaultdict(set)
    for route in load_routes():
        shapes(route.returns, found)
        shapes(route.body, found)
    assert found
    assert {name: same for name, same in found.items() if len(same) > 1} == {}
