"""Tickets: single use, short-lived, and never a guess (SC5)."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.chain.tickets import LIFETIME_SECONDS, TicketError, argument_hash, leave_ticket, take_ticket

ASKED = {"query": "Redis", "limit": 5}


def leave(scene, where, arguments=ASKED, call="c1", tool="session_search"):
    leave_ticket(scene.store, where, str(scene.vault), tool, arguments, call, scene.clock())


def take(scene, arguments=ASKED, call="", tool="session_search", user="local"):
    return take_ticket(scene.store, user, tool, arguments, scene.clock(), call)


def test_SC5_the_ticket_says_whose_call_it_is_once(scene):
    where = scene.arrive("h1").session.id.of_subagent("explore")
    leave(scene, where)
    ticket = take(scene)
    assert (ticket.where, ticket.vault, ticket.call_id) == (where, str(scene.vault), "c1")
    with pytest.raises(TicketError, match="without a ticket"):
        take(scene)


@pytest.mark.parametrize(
    "wrong",
    [{"arguments": {"query": "Redis", "limit": 6}}, {"tool": "list_session_chain"}, {"user": "bob"}, {"arguments": {}}],
)
def test_SC5_a_ticket_is_good_for_its_own_call_only(scene, wrong):
    leave(scene, scene.arrive("h1").session.id)
    with pytest.raises(TicketError):
        take(scene, **wrong)
    assert take(scene).call_id == "c1", "and is still there for it"


def test_SC5_a_ticket_does_not_live_long(scene):
    leave(scene, scene.arrive("h1").session.id)
    scene.clock.advance(LIFETIME_SECONDS + 1)
    with pytest.raises(TicketError):
        take(scene)
    leave(scene, scene.arrive("h1", source=None).session.id, {"query": "other"})
    assert len(scene.store.notes("ticket:")) == 1, "what nobody came for is swept away"


def test_SC5_two_threads_with_the_same_call_at_once_get_nothing(scene):
    one, two = scene.arrive("h1").session.id, scene.arrive("h2").session.id
    leave(scene, one, call="c1")
    leave(scene, two, call="c2")
    with pytest.raises(TicketError, match="several sessions"):
        take(scene)
    with pytest.raises(TicketError, match="without a ticket"):
        take(scene)


def test_SC5_a_host_that_hands_its_call_id_on_settles_it(scene):
    one, two = scene.arrive("h1").session.id, scene.arrive("h2").session.id
    leave(scene, one, call="c1")
    leave(scene, two, call="c2")
    assert take(scene, call="c2").where == two
    assert take(scene, call="c1").where == one


def test_SC5_parallel_calls_of_one_thread_each_have_a_ticket(scene):
    where = scene.arrive("h1").session.id
    leave(scene, where, call="c1")
    scene.clock.advance(1)
    leave(scene, where, call="c2")
    assert [take(scene).call_id, take(scene).call_id] == ["c1", "c2"]


def test_SC5_only_one_of_many_takes_a_ticket(scene):
    leave(scene, scene.arrive("h1").session.id)
    got, barrier = [], threading.Barrier(8)

    def grab():
        barrier.wait(10)
        try:
            got.append(take(scene).call_id)
        except TicketError:
            got.append(None)

    threads = [threading.Thread(target=grab) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(got, key=str) == [*[None] * 7, "c1"]


def test_SC5_a_ticket_of_a_sealed_session_still_says_whose_it_is(scene):
    where = scene.arrive("h1").session.id
    leave(scene, where)
    scene.seal(where)
    assert take(scene).where == where


values = st.recursive(
    st.none() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3), max_leaves=4
)


@given(arguments=st.dictionaries(st.text(max_size=5), values, max_size=4))
def test_SC5_the_hash_does_not_depend_on_order_or_nulls(arguments):
    turned = dict(reversed(arguments.items()))
    assert argument_hash(turned) == argument_hash(arguments)
    assert argument_hash({**arguments, "absent": None}) == argument_hash(arguments)
    assert argument_hash({**arguments, "more": 1}) != argument_hash({**arguments, "more": 2})
