"""Whoever chose an agent is never answered by another one."""

from holdfast.testing.chat_completions_server import ChatCompletionsServer
from holdfast.testing.script import Script, Turn
from runtime.stage import Stage, play, settings


def test_HK2_a_chosen_agent_that_is_not_there_is_a_problem_and_no_model_is_asked(tmp_path):
    with ChatCompletionsServer(Script(Turn("Read."))) as server:

        async def whole():
            inline = settings(server.base_url, agent={"id": "reviewer"})
            async with Stage(tmp_path, inline) as stage:
                end = await stage.conversation.send("look at it")
                assert end.reason == "failed"
                problem = stage.last("problem")
                assert "No agent is called reviewer" in problem.text
                assert str(stage.control.home.agents) in problem.next_step
                assert server.requests == []
                (stage.control.home.agents / "reviewer.md").write_text("You review.")
                again = await stage.conversation.send("look again")
                assert (again.reason, again.text) == ("done", "Read.")

        play(whole)
        assert "You review." in server.requests[0].system
