import pytest

from holdfast.core.keys import SessionId, SessionKey, WrongThreadError, require_same_thread


@pytest.mark.parametrize(
    ("user", "agent", "thread"), [("", "a", "t"), ("u", "", "t"), ("u", "a", ""), ("u", "a", "  ")]
)
def test_SC1_a_key_cannot_be_made_without_an_owner(user, agent, thread):
    with pytest.raises(ValueError, match="non-empty"):
        SessionKey(user, agent, thread)


def test_SC1_a_key_refuses_line_breaks():
    with pytest.raises(ValueError, match="line breaks"):
        SessionKey("u", "a", "t\nother")


def test_SC1_a_session_needs_a_key_and_a_name():
    with pytest.raises(ValueError, match="SessionKey"):
        SessionId("u:a:t", "s")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="session"):
        SessionId(SessionKey("u", "a", "t"), "")


def test_SC1_what_belongs_to_another_thread_is_refused_by_name():
    mine, other = SessionKey("u", "a", "tea"), SessionKey("u", "a", "phase-5")
    require_same_thread("timer", mine, SessionKey("u", "a", "tea"))
    with pytest.raises(WrongThreadError, match="timer belongs to thread 'phase-5'"):
        require_same_thread("timer", mine, other)


def test_a_subagent_is_a_view_of_its_session():
    main = SessionId(SessionKey("u", "a", "t"), "s")
    child = main.of_subagent("reader")
    assert child != main
    assert child.main() == main
    assert (child.user, child.agent, child.thread) == ("u", "a", "t")
