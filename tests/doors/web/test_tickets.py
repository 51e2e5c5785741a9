"""Addresses that work once."""

import pytest

from holdfast.doors.web.routes import ApiError
from holdfast.doors.web.tickets import MOST_WAITING, SECONDS, Tickets
from holdfast.testing.fixed_clock import FixedClock


def refused(tickets, what_for, ticket):
    with pytest.raises(ApiError) as error:
        tickets.take(what_for, ticket)
    return error.value.status == 410


def test_UI1_a_ticket_is_good_once_for_what_it_was_given_for_and_for_a_minute():
    clock = FixedClock(1000.0)
    tickets = Tickets(clock)
    first, second, third = (tickets.give("audit", number) for number in range(3))
    assert tickets.take("audit", first) == 0
    assert refused(tickets, "audit", first)
    assert refused(tickets, "outputs", second)
    clock.advance(SECONDS)
    assert refused(tickets, "audit", third)
    assert refused(tickets, "audit", "")


def test_UI1_tickets_that_nobody_takes_do_not_pile_up():
    tickets = Tickets(FixedClock(1000.0))
    given = [tickets.give("audit", number) for number in range(MOST_WAITING + 10)]
    assert refused(tickets, "audit", given[0])
    assert tickets.take("audit", given[-1]) == MOST_WAITING + 9
