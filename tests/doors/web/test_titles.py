"""What a conversation is called when its host gave it no title."""

from holdfast.doors.web.titles import title_of


def test_a_thread_without_a_title_is_called_by_its_first_words(life):
    where = life.thread()
    assert title_of(life.store, life.store.session(where.session)) == ""
    life.say(where, "Fix the   flaky\nlogin test " + "x" * 100)
    title = title_of(life.store, life.store.session(where.session))
    assert title.startswith("Fix the flaky login test xxx")
    assert len(title) == 80


def test_a_title_that_was_given_wins(life):
    where = life.thread()
    life.say(where, "Fix the login")
    row = life.store.session(where.session)
    life.store.update_session(where.session, row.version, title="Login")
    assert title_of(life.store, life.store.session(where.session)) == "Login"
