"""`holdfast completion`: the script that makes a shell complete our commands."""

from __future__ import annotations

import click

from holdfast.doors.output import emit, json_option

SHELLS = ("bash", "zsh", "fish")
HOW = {
    "bash": 'put into ~/.bashrc:  eval "$(holdfast completion bash)"',
    "zsh": 'put into ~/.zshrc:  eval "$(holdfast completion zsh)"',
    "fish": "run:  holdfast completion fish > ~/.config/fish/completions/holdfast.fish",
}


@click.command(epilog="\b\n" + "\n".join(HOW.values()))
@click.argument("shell", type=click.Choice(SHELLS))
@json_option
@click.pass_context
def completion(ctx: click.Context, shell: str, as_json: bool) -> None:
    """Print the completion script for bash, zsh or fish."""
    from click.shell_completion import get_completion_class

    maker = get_completion_class(shell)
    assert maker is not None  # click knows all three
    variables = maker(ctx.find_root().command, {}, "holdfast", "_HOLDFAST_COMPLETE")
    script = variables.source_template % variables.source_vars()
    emit({"shell": shell, "script": script, "how": HOW[shell]}, script, as_json)
