"""Take secrets out of what is written to the audit log (AU2).

Known forms of keys are found wherever they stand; what follows a name such as `password` is taken out whatever it
looks like; what follows a weaker name (`key`, `sig`) only if it looks random. The mark that is left names the kind, and
redacting twice is the same as redacting once. Everything is linear in the text, hostile texts included.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import re2  # type: ignore[import-untyped]

_OURS = frozenset({"eventId", "sessionId", "timestamp", "mode", "decision", "permissionDomain"})
"""Fields whose values are ids, times and words of our own."""

# Where a secret may begin, and how the whole of it looks. Each begins with plain characters: that is quick to find.
_FORMS: tuple[tuple[str, str, str], ...] = (
    (
        "private-key",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY",
        r"-----BEGIN [A-Z0-9 ]{0,40}?PRIVATE KEY(?s:.*?)(?:-----END [A-Z0-9 ]{0,40}?PRIVATE KEY[A-Z ]{0,20}-----|\Z)",
    ),
    ("anthropic-key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{8,}+"),
    ("openai-key", "sk-", r"sk-[A-Za-z0-9_-]{16,}+"),
    ("stripe-key", "[sr]k_(?:live|test)_", r"(?:sk_|rk_)(?:live|test)_[A-Za-z0-9]{10,}+"),
    ("stripe-webhook", "whsec_", r"whsec_[A-Za-z0-9+/=]{16,}+"),
    ("aws-key", "A(?:KIA|SIA)[A-Z0-9]", r"A(?:KIA|SIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("github-token", "gh[pousr]_|github_pat_", r"(?:gh[pousr]_|github_pat_)[A-Za-z0-9_]{20,}+"),
    ("gitlab-token", "glpat-", r"glpat-[A-Za-z0-9_.-]{16,}+"),
    ("google-key", r"AIza|ya29\.|GOCSPX-", r"(?:AIza|ya29\.|GOCSPX-)[A-Za-z0-9_.-]{16,}+"),
    ("slack-token", "xox[a-z]-|xapp-", r"(?:xox[a-z]-|xapp-)[A-Za-z0-9-]{8,}+"),
    ("slack-webhook", r"hooks\.slack\.com/", r"hooks\.slack\.com/[a-z]{4,20}/[A-Za-z0-9_/-]{8,}+"),
    ("npm-token", "npm_", r"npm_[A-Za-z0-9]{30,}+"),
    ("pypi-token", "pypi-", r"pypi-[A-Za-z0-9_-]{40,}+"),
    (
        "api-key",
        r"hf_|gsk_|lin_api_|shpat_|dop_v1_|hvs\.|xai-|pplx-",
        r"(?:hf_|gsk_|lin_api_|shpat_|dop_v1_|hvs\.|xai-|pplx-)[A-Za-z0-9_-]{20,}+",
    ),
    ("sendgrid-key", r"SG\.", r"SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+"),
    ("age-key", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-1[A-Z0-9]{20,}+"),
    ("jwt", "eyJ[A-Za-z0-9_-]{8}", r"eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]*+"),
)
_KNOWN = tuple((kind, re.compile(form)) for kind, _, form in _FORMS)

# fmt: off
_STRONG_WORDS = frozenset({
    "password", "passwd", "passphrase", "passcode", "pass", "pwd", "pw", "secret", "token", "apikey", "accesskey",
    "secretkey", "privatekey", "accountkey", "masterkey", "signingkey", "encryptionkey", "credential", "credentials",
    "cookie", "authorization", "mnemonic", "webhookurl",
})
# fmt: on
_STRONG_ENDS = ("password", "passwd", "passphrase", "secret", "token", "apikey", "pwd", "credentials")
_WEAK_WORDS = frozenset({"key", "sig", "signature", "auth", "jwt", "pat", "cred", "creds"})

_NAME_END = (
    "pass[a-z]*|pwd|pw|secret|token|key|credentials?|creds?|cookie|auth(?:orization)?|mnemonic|sig(?:nature)?|jwt|pat|"
    "webhook_?url"
)
_BLANK = r"(?:[\s]|\\[nrt])"  # also as JSON writes it
_TRACE = re2.compile(
    "|".join(
        [
            *(start for _, start, _ in _FORMS),
            rf"(?i)(?:{_NAME_END})\\?[\"']?{_BLANK}*(?:=>|:=|[=:])",
            rf"(?i)--?[a-z0-9_.-]*(?:{_NAME_END}){_BLANK}+[^\s-]",
            rf"(?i)(?:bearer|basic){_BLANK}+[A-Za-z0-9._~+/=-]",
            r"://[^\s/?#@\"]+@",
            r"-u[ =]?\S+:|--(?:proxy-)?user[ =]\S+:",
            r"sshpass|mysql|mariadb|redis-cli",
        ]
    )
)

_MARK = r"\[redacted:[a-z-]+\]"
_ONLY_MARKS = re.compile(rf"(?:{_MARK})+\Z")
_HARMLESS = re.compile(r"(?i)(?:true|false|null|none|yes|no|on|off|required|optional|\d{1,6})\Z")
_VALUE = re.compile(rf"\\\"[^\"]*+\"?|\"(?:[^\"\\]|\\.)*+\"?|'[^']*+'?|(?:{_MARK}|[^\s'\"&;|<>(),}}\]\\])++", re.DOTALL)
_NAMED = re.compile(r"(?<![A-Za-z0-9_.-])([A-Za-z0-9_.-]++)\\?[\"']?\s{0,8}(?:=>|:=|[=:])\s{0,8}")
_OPTION = re.compile(r"(?<!\S)--?([A-Za-z0-9][A-Za-z0-9_.-]*+)\s{1,8}(?!-)")
_HEADER = re.compile(
    r"(?i)(?<![A-Za-z0-9])((?:proxy-)?authorization|(?:set-)?cookie)(\\?[\"']?[ \t]*+[:=][ \t]*+\\?[\"']?)"
    rf"((?:{_MARK}|[^\r\n\"'\\])++)"
)
_SCHEME = re.compile(r"(?i)(?<![A-Za-z0-9])(bearer|basic)(\s{1,8})([A-Za-z0-9._~+/=-]{6,}+)")
_USERINFO = re.compile(rf"(://)((?:{_MARK}|[^\s/?#'\"<>\\])+)(?=@)")
_PASSED_BY = tuple(
    re.compile(option + r"()('[^']*+'?|\"[^\"]*+\"?|[^\s'\"]++)")
    for option in (
        r"((?<!\S)(?:-u|--user|--proxy-user)[ =]?(?=\S*:)(?!\d+:\d+(?!\S)))",
        r"(\bsshpass\s{1,4}-p\s{0,4})",
        r"(\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^|;&\n]{0,200}?\s-p)",
        r"(\bredis-cli\b[^|;&\n]{0,200}?\s-a\s{1,4})",
    )
)
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")
_RANDOM = re.compile(r"[A-Za-z0-9_+/=.~-]{16,}\Z")
_WEAK_REACH = 300


def has_trace(data: bytes) -> bool:
    """Whether there is anything to look at more closely; most entries have nothing, and this is quick."""
    return _TRACE.search(data) is not None


def redact_entry(entry: Mapping[str, Any]) -> tuple[Mapping[str, Any], set[str]]:
    """The entry without its secrets, and the kinds that were taken out."""
    kinds: set[str] = set()
    kept = {name: value if name in _OURS else _redact_value(value, name, kinds) for name, value in entry.items()}
    return kept, kinds


def redact_text(text: str) -> tuple[str, set[str]]:
    kinds: set[str] = set()
    return _redact(text, kinds), kinds


def looks_random(value: str) -> bool:
    """Whether a value is more likely drawn by chance than written by somebody."""
    if not _RANDOM.match(value) or not any(char.isdigit() for char in value):
        return False
    counts = [value.count(char) for char in set(value)]
    entropy = -sum(count / len(value) * math.log2(count / len(value)) for count in counts)
    return entropy >= 3.2


def names_secret(name: str) -> bool:
    """Whether whatever is called so is a secret: `dbPassword`, `AWS_SECRET_ACCESS_KEY`, `--token`."""
    words = [word.lower() for word in _WORD.findall(name[-80:])]
    if not words:
        return False
    last = words[-1]
    return last in _STRONG_WORDS or "".join(words[-2:]) in _STRONG_WORDS or last.endswith(_STRONG_ENDS)


def _may_name_secret(name: str) -> bool:
    words = _WORD.findall(name[-80:])
    return bool(words) and words[-1].lower() in _WEAK_WORDS


def _redact_value(value: Any, name: str, kinds: set[str]) -> Any:
    if isinstance(value, str):
        if names_secret(name) and value and not _HARMLESS.match(value) and not _ONLY_MARKS.match(value):
            return _mark("secret", kinds)
        if _may_name_secret(name) and looks_random(value[:_WEAK_REACH]):
            return _mark("secret", kinds)
        return _redact(value, kinds)
    if isinstance(value, Mapping):
        return {
            _redact(key, kinds) if isinstance(key, str) else key: _redact_value(entry, str(key), kinds)
            for key, entry in value.items()
        }
    if isinstance(value, list | tuple):
        return [_redact_value(entry, name, kinds) for entry in value]
    return value


def _redact(text: str, kinds: set[str]) -> str:
    if not has_trace(text.encode("utf-8", "replace")):
        return text
    for kind, form in _KNOWN:
        text = form.sub(_whole(kind, kinds), text)
    for pattern in (_HEADER, _SCHEME, *_PASSED_BY):
        text = pattern.sub(_third("credentials", kinds), text)
    text = _USERINFO.sub(_second("userinfo", kinds), text)
    text = _redact_named(text, _NAMED, kinds)
    return _redact_named(text, _OPTION, kinds)


def _redact_named(text: str, names: re.Pattern[str], kinds: set[str]) -> str:
    """Take out the values that follow a telling name."""
    pieces: list[str] = []
    done = 0
    for match in names.finditer(text):
        start = match.end()
        if start < done:
            continue
        strong = names_secret(match[1])
        if not strong and not (names is _NAMED and _may_name_secret(match[1])):
            continue
        value = _VALUE.match(text, start) if strong else _VALUE.match(text, start, start + _WEAK_REACH)
        if value is None:
            continue
        quote = re.match(r"\\?[\"']?", value[0])
        opening = quote[0] if quote else ""
        bare = value[0][len(opening) :]
        closing = opening if opening and bare.endswith(opening) else ""
        bare = bare[: len(bare) - len(closing)]
        if not bare or _HARMLESS.match(bare) or _ONLY_MARKS.match(bare) or not (strong or looks_random(bare)):
            continue
        pieces += [text[done:start], opening, _mark("secret", kinds), closing]
        done = value.end()
    return "".join([*pieces, text[done:]]) if pieces else text


def _whole(kind: str, kinds: set[str]) -> Callable[[re.Match[str]], str]:
    def replaced(match: re.Match[str]) -> str:
        before = match.string[match.start() - 1 : match.start()]
        # `task-...` is no `sk-...`: a key begins where a word begins.
        return match[0] if before.isalnum() or before == "_" else _mark(kind, kinds)

    return replaced


def _second(kind: str, kinds: set[str]) -> Callable[[re.Match[str]], str]:
    return lambda match: match[0] if _ONLY_MARKS.match(match[2]) else match[1] + _mark(kind, kinds)


def _third(kind: str, kinds: set[str]) -> Callable[[re.Match[str]], str]:
    return lambda match: match[0] if _ONLY_MARKS.match(match[3].strip()) else match[1] + match[2] + _mark(kind, kinds)


def _mark(kind: str, kinds: set[str]) -> str:
    kinds.add(kind)
    return f"[redacted:{kind}]"
