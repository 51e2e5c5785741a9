import json
import pickle

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.messages import Message, Phrase, TellableError, message_of, plain

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


def test_a_place_that_holds_a_message_speaks_the_language_of_the_whole():
    inner = Phrase("t.inner", "a number, {got}", "数字，{got}")
    outer = Phrase("t.outer", "expected {wanted} here", "此处应为{wanted}")
    message = outer(wanted=inner(got=inner(got="x")))
    assert message.text("en") == "expected a number, a number, x here"
    assert message.text("zh") == "此处应为数字，数字，x"
    kept = Message.from_dict(json.loads(json.dumps(message.to_dict())))
    assert (kept.text("zh"), kept.to_dict()) == (message.text("zh"), message.to_dict())


def test_an_error_tells_its_message_and_another_programs_words_stay():
    said = Phrase("t.gone", "{path} is gone", "{path} 已不存在")(path="a")
    assert str(TellableError(said)) == "a is gone"
    assert message_of(TellableError(said)) == said
    assert message_of(TellableError("plain words")).text("zh") == "plain words"
    assert message_of(ValueError("its own words")).text("zh") == "its own words"
    copied = pickle.loads(pickle.dumps(TellableError(said)))
    assert copied.message.text("zh") == "a 已不存在"
