"""Words that tools use for what they do: enough to judge a subcommand that no table lists."""

# ruff: noqa: SIM905 - long lists of words read better as text

from __future__ import annotations

import re
from collections.abc import Iterable

READS = frozenset(
    "list ls get describe show status info view search find inspect version versions help logs log top"
    " cat diff check validate lint whoami explain history tree events lookup read head tail ps stat stats"
    " size count plan preview scan query select print watch ping wait test doctor about env config-view"
    " locate usage batch-get lookup-events filter estimate preview-destroy current display tail-logs"
    " who-am-i me summary outline graph verify wait-for simulate health metrics monitor peek dump-config"
    " which what outputs output audit trace detect".split()
)
# Gone afterwards, or access to it is.
DESTROYS = frozenset(
    "delete destroy del purge drop remove rm terminate wipe erase nuke flush flushall flushdb truncate"
    " prune deregister unregister revoke disable detach teardown deprovision rmi rb rmdir kill uninstall"
    " undeploy disassociate forget reset decommission unsubscribe expunge evict abandon obliterate"
    " trash archive force-delete batch-delete bulk-delete delete-all rollback unlink"
    " empty clear deauthorize release-address delete_all drop_all".split()
)
STRONG = frozenset(
    "delete destroy purge drop terminate wipe erase nuke truncate obliterate deprovision expunge flushall"
    " flushdb force-delete delete-all wipefs".split()
)
_SPLIT = re.compile(r"[-_:.]")


def verb_of(word: str) -> str:
    """`delete-bucket`, `delete_user`, `apps:destroy` and `DeleteTopic` all say what they do."""
    lowered = word.lower()
    if lowered in DESTROYS or lowered in READS:
        return lowered
    pieces = _SPLIT.split(lowered)
    if ":" in lowered:
        return pieces[-1]
    if len(pieces) > 1:
        if pieces[0] in ("batch", "bulk", "force", "admin") and len(pieces) > 1:
            return pieces[1]
        return pieces[0]
    camel = re.match(r"[A-Z]?[a-z]+(?=[A-Z])", word)
    return camel[0].lower() if camel is not None else lowered


# Tasks of a project, by the names that frameworks give them: `db:drop`, `ecto.reset`, `migrate:fresh`.
_TASK = re.compile(
    r"(?:^|[:.])(?:db|database|ecto|schema|migrate|migrations?|data|apartment|parallel)[:._-](?:[\w:]*[:._-])?"
    r"(?:drop|reset|fresh|wipe|purge|destroy|truncate|nuke|refresh|clear)(?:[:._-]\w+)*\Z"
    r"|\A(?:flush|reset_db|sqlflush|dropdb|drop_db|db-drop|db-reset|drop-database|destroy-db|clean_db|nuke)\Z",
    re.IGNORECASE,
)


def destructive_task(words: Iterable[str]) -> str:
    """The first word that names a task which throws data away; "" without one."""
    return next((word for word in words if _TASK.search(word)), "")
