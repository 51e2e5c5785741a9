from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.messages import Message, Phrase, plain

GREETING = Phrase("test.greeting", "Hello {name}", "你好，{name}")


def test_a_message_is_rendered_in_the_language_asked_for():
    message = GREETING(name="Ada")
    assert (message.text("en"), message.text("zh")) == ("Hello Ada", "你好，Ada")
    assert message.code == "test.greeting"


def test_a_forgotten_place_never_raises():
    assert GREETING().text() == "Hello {name}"


@given(st.text())
def test_plain_text_with_braces_is_kept_as_it_is(text):
    assert plain(text).text() == text
    assert Message.from_dict(plain(text).to_dict()).text("zh") == text
