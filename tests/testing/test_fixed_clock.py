import pytest

from holdfast.testing import FixedClock


def test_it_stands_still_until_it_is_moved():
    clock = FixedClock(100.0)
    assert (clock(), clock()) == (100.0, 100.0)
    assert clock.advance(2.5) == 102.5
    assert clock() == 102.5


def test_it_does_not_go_back():
    clock = FixedClock()
    before = clock()
    with pytest.raises(ValueError, match="only goes forward"):
        clock.advance(-1)
    assert clock() == before
