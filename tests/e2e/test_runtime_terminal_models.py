"""The terminal with a model behind a real protocol: words as they come, a countdown, a loss of the connection."""

import re

import pytest

from e2e.terminal_place import PROMPT, chat, configure, make_place
from holdfast.store.memory_layout import lay_out
from holdfast.testing.chat_completions_server import ChatCompletionsServer
from holdfast.testing.model_request import ToolUse
from holdfast.testing.responses_server import ResponsesServer
from holdfast.testing.script import Failure, Script, Turn, Usage

pytestmark = pytest.mark.e2e


@pytest.fixture
def place(tmp_path):
    return make_place(tmp_path)


def with_model(place, server, **runtime):
    api = "responses" if isinstance(server, ResponsesServer) else "chat"
    about = {"baseUrl": server.base_url, "api": api, "customContext": 20_000}
    configure(place, model="scripted", models={"scripted": about}, **runtime)


def test_UI3_words_are_shown_as_they_come(place):
    long = "# A title\n\n" + " ".join(f"word{number}" for number in range(120))
    with ResponsesServer(Script(Turn(long, piece_delay=0.1, usage=Usage(input_tokens=10_000)))) as server:
        with_model(place, server)
        with chat(place) as screen:
            screen.wait_for(PROMPT)
            screen.enter("tell me")
            half = screen.wait_for("word2 ")
            assert "word119" not in half
            assert "word119" in screen.wait_for("word119")
            screen.wait_for("50% / 20.0k")


def test_UI3_a_rate_limit_counts_down_before_your_eyes(place):
    with ChatCompletionsServer(Script(Failure(429, "slow down", retry_after=8), "here I am")) as server:
        with_model(place, server)
        with chat(place) as screen:
            screen.wait_for(PROMPT)
            screen.enter("hello")
            screen.wait_for("Trying again in")
            seen = set()
            while "here I am" not in (shown := screen.text()):
                seen.update(re.findall(r"Trying again in (\d+) s", shown))
            assert len(seen) >= 2, f"the countdown stood still: {seen}"


def test_UI3_a_problem_names_the_next_step_and_the_chat_goes_on(place):
    with ChatCompletionsServer(Script(Failure(401, "bad key"), "better now")) as server:
        with_model(place, server)
        with chat(place) as screen:
            screen.wait_for(PROMPT)
            screen.enter("hello")
            assert "Check the key" in screen.wait_for("refused the key")
            screen.enter("/resume")
            screen.wait_for("better now")


def test_PE6_several_questions_come_one_after_the_other(place):
    calls = tuple(ToolUse("bash", {"command": f"echo number {number}"}) for number in (1, 2))
    with ChatCompletionsServer(Script(Turn(tool_calls=calls), "both done")) as server:
        with_model(place, server)
        with chat(place) as screen:
            screen.wait_for(PROMPT)
            screen.enter("go")
            screen.wait_for("[d]eny")
            screen.press("o")
            screen.wait_for("[d]eny", times=2)
            screen.press("d")
            screen.press("Enter")
            shown = screen.wait_for("both done")
            assert shown.count("needs your approval") == 2


def test_MB6_a_proposal_is_shown_as_a_card_and_settled_by_the_next_message(place):
    lay_out(place / "vault", "en")
    progress = place / "vault" / "memory-bank" / "details" / "progress.md"

    def proposal(text):
        given = {"file": "details/progress.md", "append": text, "why": "the parser is done"}
        return Turn(tool_calls=(ToolUse("memory_propose", given),))

    script = Script(
        proposal("- parser shipped"), "Shall I keep it?", "kept", proposal("- nonsense"), "And this?", "fine"
    )
    with ChatCompletionsServer(script) as server:
        with_model(place, server)
        with chat(place) as screen:
            screen.wait_for(PROMPT)
            screen.enter("remember that the parser is done")
            card = screen.wait_for("Shall I keep it?")
            assert "proposed for the memory bank: memory-bank/details/progress.md" in card
            assert "+- parser shipped" in card
            assert "the parser is done" in card
            assert "mb:write (or yes, ok) writes it" in card
            assert "parser shipped" not in progress.read_text()
            screen.enter("mb:write")
            screen.wait_for("progress.md was written")
            screen.wait_for("kept")
            assert progress.read_text().endswith("- parser shipped\n")
            screen.enter("and something else")
            screen.wait_for("And this?")
            screen.enter("不用")
            screen.wait_for("progress.md was left as it is")
            assert "nonsense" not in progress.read_text()
    told = [request.system for request in server.requests]
    assert "progress.md was written" in told[2], "the agent knows what its user's word has done"
