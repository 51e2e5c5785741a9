"""What programs do, as data: one module a family. See commands.py for the keys."""

from collections.abc import Mapping
from typing import Any

from holdfast.shell.table import (
    archives,
    build,
    builtins,
    cloud,
    containers,
    coreutils,
    databases,
    disclosures,
    editors,
    interpreters,
    macos,
    media,
    network,
    packages,
    services,
    side_effects,
    system,
    text,
    version_control,
    wrappers,
)

ALL: tuple[Mapping[str, Any], ...] = (
    builtins.TABLE,
    coreutils.TABLE,
    text.TABLE,
    archives.TABLE,
    wrappers.TABLE,
    interpreters.TABLE,
    editors.TABLE,
    version_control.TABLE,
    build.TABLE,
    packages.TABLE,
    containers.TABLE,
    cloud.TABLE,
    databases.TABLE,
    services.TABLE,
    network.TABLE,
    media.TABLE,
    system.TABLE,
    macos.TABLE,
)

# By `program` or `program subcommand`: uses that do more than the entry's `ro` says.
SIDE_EFFECTS: Mapping[str, tuple[str, ...]] = {
    name: conditions for names, conditions in side_effects.SIDE_EFFECTS.items() for name in names.split("|")
}

# By program: a pattern of uses that show a secret.
DISCLOSES: Mapping[str, str] = {
    name: pattern for names, pattern in disclosures.DISCLOSES.items() for name in names.split("|")
}
