"""Words that tools use for what they do: enough to judge a subcommand that no table lists."""

# ruff: noqa: SIM905 - long lists of words read better as text

from __future__ import annotations

import re
from collections.abc import Iterable

from holdfast.shell.lazy import Lazy

# Verbs that read, whatever stands behind them.
READS = frozenset(
    "list ls get describe show view search find inspect cat read lookup explain whoami who-am-i lint validate"
    " help locate peek display tail head which batch-get lookup-events filter preview estimate simulate"
    " lsd lsf lsl lsjson md5sum sha1sum du stat".split()
)
# Nouns as well as verbs: they read when nothing follows that says otherwise.
ASKS = frozenset(
    "status info version versions logs log top diff check history tree events ps stats size count plan scan query"
    " print watch ping wait test doctor about env usage current summary outline graph verify health metrics monitor"
    " outputs output exists audit trace detect me members catalog whois netcheck".split()
)
# Something is different afterwards, but nothing is gone.
CHANGES = frozenset(
    "create add set update put apply edit enable start stop restart deploy push publish upload import attach"
    " assign grant invite move mv rename copy cp clone restore rotate scale run exec execute invoke send submit"
    " register tag untag unset label annotate login logout use switch install init new save sync join merge"
    " approve reject open close comment lock unlock pause resume suspend promote patch replace upgrade migrate"
    " activate allow deny write insert modify change configure setup config associate authorize accept transfer"
    " fork link connect disconnect reboot shutdown cancel deactivate make touch mkdir generate sign encrypt"
    " decrypt seal unseal rebuild refresh reload retry rerun trigger dispatch call post mark unmark pin unpin"
    " star unstar follow unfollow subscribe ack resolve escalate snooze schedule enroll bootstrap build download"
    " export backup snapshot-create issue renew transition ssh shell console attach-volume mount unmount forward"
    " proxy serve listen tunnel reserve allocate bind unbind get-credentials get-login".split()
)
# Of these, the ones that begin a longer name: `create-bucket`, but not `ssh-key`.
CHANGE_PREFIXES = frozenset(
    "create update put add set start stop modify attach associate register run send import enable restore copy accept"
    " publish invoke reboot upload tag untag assign grant unassign unlink unpublish rename replace".split()
)
# Gone afterwards, or access to it is.
DESTROYS = frozenset(
    "delete destroy del purge drop remove rm terminate wipe erase nuke flush flushall flushdb truncate"
    " prune deregister unregister revoke disable detach teardown deprovision rmi rb rmdir kill uninstall"
    " undeploy disassociate forget reset decommission unsubscribe expunge evict abandon obliterate"
    " trash archive force-delete batch-delete bulk-delete delete-all rollback unlink"
    " empty clear delsnapshot delsnap deauthorize release-address delete_all drop_all".split()
)
STRONG = frozenset(
    "delete destroy purge drop terminate wipe erase nuke truncate obliterate deprovision expunge flushall"
    " flushdb force-delete delete-all wipefs".split()
)
# Of the verbs that change, those that are names of things as well, and what is said about such a thing.
NOUNS_TOO = frozenset(
    "schedule connect config lock backup deploy issue label tag run build transfer proxy link mount restore export"
    " import forward call mark console".split()
)
STRONG_WORDS = frozenset(("delete", "destroy", "remove", "rm", "purge", "drop", "terminate", "revoke", "wipe", "unset"))
_SPLIT = Lazy(r"[-_:.]")


def verb_of(word: str) -> str:
    """`delete-bucket`, `delete_user`, `apps:destroy` and `DeleteTopic` all say what they do."""
    lowered = word.lower()
    if lowered in DESTROYS or lowered in READS or lowered in ASKS or lowered in CHANGES:
        return lowered
    pieces: list[str] = _SPLIT.split(lowered)
    if ":" in lowered:
        return pieces[-1]
    if len(pieces) > 1:
        if pieces[0] in ("batch", "bulk", "force", "admin") and len(pieces) > 1:
            return pieces[1]
        return pieces[0]
    camel = re.match(r"[A-Z]?[a-z]+(?=[A-Z])", word)
    return camel[0].lower() if camel is not None else lowered


# Tasks of a project, by the names that frameworks give them: `db:drop`, `ecto.reset`, `migrate:fresh`.
_TASK = Lazy(
    r"(?:^|[:.])(?:db|database|ecto|schema|migrate|migrations?|data|apartment|parallel)[:._-](?:[\w:]*[:._-])?"
    r"(?:drop|reset|fresh|wipe|purge|destroy|truncate|nuke|refresh|clear)(?:[:._-]\w+)*\Z"
    r"|\A(?:flush|reset_db|sqlflush|dropdb|drop_db|db-drop|db-reset|drop-database|destroy-db|clean_db|nuke)\Z",
    re.IGNORECASE,
)


def destructive_task(words: Iterable[str]) -> str:
    """The first word that names a task which throws data away; "" without one."""
    return next((word for word in words if _TASK.search(word)), "")
