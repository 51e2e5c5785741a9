from holdfast.testing import ScriptedIds


def test_named_ones_first_then_numbered():
    ids = ScriptedIds("event", first=["start", "stop"])
    assert [ids() for _ in range(4)] == ["start", "stop", "event-1", "event-2"]


def test_two_makers_give_the_same_ids():
    assert [ScriptedIds()() for _ in range(2)] == ["id-1", "id-1"]
