"""`holdfast init`: make the home, for the user alone, and a commented configuration; nothing is ever overwritten."""

from __future__ import annotations

import click

from holdfast.doors.context import Context, pass_context
from holdfast.doors.output import emit, json_option


@click.command()
@json_option
@pass_context
def init(context: Context, as_json: bool) -> None:
    """Make the home and a commented configuration, for you alone.

    What is there already is left as it is, so this can be run at any time.
    """
    from holdfast.doors.config_template import template
    from holdfast.store.atomic_file import write_new

    home = context.home
    made = [str(folder) for folder in home.create()]
    if write_new(home.config, template().encode()):
        made.append(str(home.config))
    loaded = context.config  # a configuration that was there must be right, too
    lines = [f"made {path}" for path in made] or [f"nothing to do: {home.root} is there"]
    emit({"home": str(home.root), "config": str(loaded.path), "made": made}, lines, as_json)
