"""Code of languages that have no grammar here, with its strings and patterns blanked, and the words that it uses.

In Perl and Ruby a function is called without parentheses, so every word counts: `unlink $x`, `File.rename a, b`.
Strings, patterns and comments are told apart in one pass from left to right, because a quote inside a pattern is
no string and a slash inside a string is no pattern. What is interpolated into a string is code and stays.
"""

# ruff: noqa: SIM905 - long lists of words read better as text

from __future__ import annotations

from collections.abc import Iterator

from holdfast.shell.lazy import Lazy

_CLOSERS = {"(": ")", "[": "]", "{": "}", "<": ">"}
_QUOTE_LIKE = {
    "perl": Lazy(r"(?<![\w$@%&>{-])(?:(?P<one>qq|qr|qx|q|m)|(?P<two>s|tr|y))(?P<open>[^\w\s,;=)]|\s+[{(\[])"),
    "ruby": Lazy(r"%(?P<one>[qQwWiIrxs]?)(?P<open>[({\[|/!])(?P<two>)"),
}
# Before these a slash begins a pattern; after a name or a bracket it divides.
_OPERATOR = frozenset("(,;{}!~=&|?:<>+-*%\n")
_WORD_BEFORE_PATTERN = frozenset(
    "if unless and or not split grep print return while until x when elsif puts p in".split()
)
_MAGIC = Lazy(r"\(\?\??\{")  # code inside a Perl pattern


class Blanked:
    """`text` is the code with blanks for strings; `strange` says why the words of it do not tell everything."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.strange = ""

    @property
    def text(self) -> str:
        return "".join(self.pieces)


def blank(language: str, code: str) -> Blanked:
    result = Blanked()
    at, size = 0, len(code)
    previous = "\n"  # the last character that is no blank, and the word that it ends
    quote_like = _QUOTE_LIKE.get(language)
    while at < size:
        char = code[at]
        if char == "#" and language in ("perl", "ruby", "php") and (at == 0 or code[at - 1] in " \t\n;"):
            end = code.find("\n", at)
            at = size if end < 0 else end
            continue
        if language in ("node", "php") and code.startswith("//", at) and previous[-1] not in ":":
            end = code.find("\n", at)
            at = size if end < 0 else end
            continue
        if language in ("node", "php") and code.startswith("/*", at):
            end = code.find("*/", at + 2)
            at = size if end < 0 else end + 2
            continue
        if char in "\"'`" and not (language == "perl" and char == "'" and previous[-1].isalnum()):
            at = _string(result, language, code, at, char)
            previous = '"'
            continue
        if language == "lua" and code.startswith("[[", at):
            end = code.find("]]", at)
            result.pieces.append('""')
            at = size if end < 0 else end + 2
            previous = '"'
            continue
        if quote_like is not None and (char == "%" or char.isalpha()) and not (at and code[at - 1].isalnum()):
            match = quote_like.match(code, at)
            if match is not None and not (match["two"] in ("y", "s", "tr") and match["open"] in "=,"):
                at = _quoted(result, language, code, at, match)
                previous = '"'
                continue
        begins = previous[-1] in _OPERATOR or previous in _WORD_BEFORE_PATTERN
        if char == "/" and begins and language in ("perl", "ruby", "node"):
            at = _pattern(result, code, at, "/")
            previous = '"'
            continue
        if (
            code.startswith("<<", at)
            and language in ("perl", "ruby", "php")
            and code[at + 2 : at + 3] in "~'\"ABCDEFGHIJKLMNOPQRSTUVWXYZ<-"
        ):
            result.strange = "a here-document"
        result.pieces.append(char)
        if char.isalnum() or char in "_$@":
            joined = at > 0 and (code[at - 1].isalnum() or code[at - 1] in "_$@")
            previous = previous + char if joined else char
        elif not char.isspace() or char == "\n":
            previous = char
        at += 1
    return result


def _string(result: Blanked, language: str, code: str, at: int, quote: str) -> int:
    """A string, up to its end; code that is interpolated into it is kept."""
    result.pieces.append(quote)
    interpolates = quote != "'" and not (quote == '"' and language in ("node", "lua"))
    at += 1
    while at < len(code) and code[at] != quote:
        if code[at] == "\\":
            at += 2
            continue
        opened = next((o for o in ("#{", "${", "@{") if code.startswith(o, at)), "") if interpolates else ""
        if opened and (opened == "#{") == (language == "ruby"):
            end = _balanced(code, at + 1, "{", "}")
            result.pieces.append(" " + code[at + 2 : end - 1] + " ")
            at = end
            continue
        at += 1
    result.pieces.append(quote)
    return at + 1


def _balanced(code: str, at: int, opening: str, closing: str) -> int:
    """The place after the bracket that closes the one at `at`."""
    depth = 0
    while at < len(code):
        char = code[at]
        if char == "\\":
            at += 1
        elif char == opening:
            depth += 1
        elif char == closing:
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return len(code)


def _quoted(result: Blanked, language: str, code: str, at: int, match: object) -> int:
    """`q(..)`, `m{..}`, `s/a/b/e`, `%w[..]`: from the opening sign to the last closing one."""
    from re import Match  # noqa: PLC0415 - only a type

    assert isinstance(match, Match)
    opening = match["open"].strip() or "{"
    end = match.end()
    closing = _CLOSERS.get(opening)
    begin = end
    for number in range(2 if match["two"] else 1):
        if closing is not None:
            if number:
                found = code.find(opening, end)
                end = len(code) if found < 0 else found
            else:
                end -= 1
            end = _balanced(code, end, opening, closing)
        else:
            while end < len(code) and code[end] != opening:
                end += 2 if code[end] == "\\" else 1
            end += 1
    flags = end
    while flags < len(code) and code[flags].isalpha():
        flags += 1
    body = code[begin:flags]
    if match["two"] == "s" and "e" in code[end:flags]:
        result.strange = "code inside a replacement"
    elif match["one"] in ("qx", "x") or _MAGIC.search(body) is not None:
        result.strange = "a command or code inside a quoted text"
    elif match["one"] in ("qq", "Q", "W", "") and ("#{" in body or "@{" in body or "${" in body):
        result.strange = "code inside a quoted text"
    result.pieces.append('""')
    return flags


def _pattern(result: Blanked, code: str, at: int, closing: str) -> int:
    end = at + 1
    in_class = False
    while end < len(code) and (code[end] != closing or in_class) and code[end] != "\n":
        if code[end] == "\\":
            end += 1
        elif code[end] in "[]":
            in_class = code[end] == "["
        end += 1
    if _MAGIC.search(code[at:end]) is not None or "#{" in code[at:end] or "@{" in code[at:end]:
        result.strange = "code inside a pattern"
    end += 1
    while end < len(code) and code[end].isalpha():
        end += 1
    result.pieces.append('""')
    return end


# -- words that compute and show, and change nothing ------------------------------------------------------------------

_PERL = frozenset(
    "print printf say if unless while until for foreach else elsif and or not my our local use no strict warnings"
    " feature utf8 sub return last next redo split join map grep sort reverse keys values each exists defined delete"
    " push pop shift unshift splice scalar wantarray length substr index rindex uc lc ucfirst lcfirst sprintf abs"
    " int sqrt sin cos atan2 exp log hex oct rand srand time localtime gmtime chomp chop chr ord pos quotemeta pack"
    " unpack x eq ne lt gt le ge cmp qw BEGIN END STDIN STDOUT STDERR ARGV ENV eof close binmode die warn exit undef"
    " ref study lstat stat sum sum0 min max first any all none uniq shuffle reduce minstr maxstr product pairs"
    " Dumper decode_json encode_json to_json from_json basename dirname fileparse strftime floor ceil fmod pow"
    " mktime md5_hex sha1_hex sha256_hex encode_base64 decode_base64 encode decode blessed looks_like_number new"
    " List Util Data JSON PP POSIX File Basename Time HiRes Local MIME Base64 Digest MD5 SHA Scalar Encode bigint"
    " bignum integer xor __PACKAGE__ UTF v5 nl state sleep getppid getpwnam getpwuid getlogin hostname version given"
    " when default readline each_line lines Text Tabs Wrap Unicode Normalize constant vars lib utf8_mode"
    " open_mode crlf encoding raw ucwords hexdigest add addfile".split()
)
_RUBY = frozenset(
    "puts print p pp printf putc if unless while until for in do end else elsif then case when and or not begin"
    " rescue ensure yield return next break redo retry nil true false self super def class module lambda proc loop"
    " require gets readline readlines each each_with_index each_line each_char each_byte each_slice each_cons"
    " each_pair each_with_object each_key each_value each_entry map flat_map collect select filter filter_map reject"
    " find detect inject reduce sum count min max minmax sort sort_by group_by partition zip uniq first last take"
    " drop take_while drop_while include any all none one tally chunk_while slice_when to_s to_i to_f to_a to_h to_r"
    " to_c to_sym to_set to_json to_yaml to_enum inspect join split strip lstrip rstrip chomp chop chars bytes lines"
    " length size empty upcase downcase capitalize swapcase reverse gsub sub tr delete squeeze index rindex"
    " start_with end_with match scan slice center ljust rjust format sprintf keys values key value has_key fetch dig"
    " merge invert transform_values transform_keys times upto downto step abs round floor ceil divmod pow rand now"
    " today strftime year month day hour wday yday hash hex oct ord chr succ pred freeze dup clone is_a kind_of"
    " instance_of respond_to push pop shift unshift append prepend insert concat compact flatten rotate sample"
    " shuffle values_at product combination permutation transpose cycle with_index with_object each_index read"
    " foreach exist file directory basename dirname extname expand_path stat mtime entries glob children pwd parse"
    " generate pretty_generate load_json hexdigest encode64 decode64 strict_encode64 urlsafe_encode64 encode unpack"
    " unpack1 pack force_encoding valid_encoding unicode_normalize version sqrt sin cos log PI E File Dir IO ENV"
    " ARGF ARGV STDIN STDOUT STDERR JSON YAML CSV Time Date DateTime Math Integer Float String Array Hash Set Struct"
    " Digest MD5 SHA1 SHA256 Base64 URI RUBY_VERSION RUBY_PLATFORM RUBY_PATCHLEVEL Comparable Enumerable Range"
    " Regexp Rational Complex BigDecimal Random BEGIN END defined even odd zero positive negative between clamp"
    " digits gcd lcm bit_length tap itself encoding set lineno filename raise exit message full_message backtrace"
    " to_proc lazy force minmax_by min_by max_by find_index find_all chunk new_line sync headers row rows table".split()
)
SAFE_WORDS = {"perl": _PERL, "ruby": _RUBY}
_HASH_KEY = Lazy(r"\{\s*-?[A-Za-z_]\w*\s*\}|[A-Za-z_]\w*\s*=>|(?<![:\w])[A-Za-z_]\w*:(?!:)")
_USED = Lazy(r"(?P<sigil>[$@%]\{?\^?|(?<!&)&(?=[\w{$]))?(?P<name>[A-Za-z_]\w*[?!]?)")
_OWN = {
    "perl": Lazy(r"\bsub\s+(\w+)"),
    "ruby": Lazy(
        r"([a-z_]\w*)\s*(?:[-+*/|&]{0,2})=(?![=~])|\|([^|\n]{1,80})\||\bdef\s+(?:self\.)?(\w+)(?:\(([^)]*)\))?|\bfor\s+(\w+)|=>\s*(\w+)"
    ),
}
_MODULE = Lazy(r"\b(?:use|no)\s+[\w:.]+[^;\n]*")


def unknown_words(language: str, blanked: str) -> Iterator[str]:
    """Words of Perl or Ruby code that are neither its own names nor known to be harmless."""
    safe = SAFE_WORDS[language]
    text = _MODULE.sub(" ", blanked) if language == "perl" else blanked
    own = {
        name
        for groups in _OWN[language].findall(text)
        for part in ([groups] if isinstance(groups, str) else groups)
        for name in part.replace("*", " ")
        .replace("&", " ")
        .replace("(", " ")
        .replace(")", " ")
        .replace(",", " ")
        .split()
    }
    text = _HASH_KEY.sub(" ", text) if language == "perl" else text
    for match in _USED.finditer(text):
        name = match["name"].rstrip("?!")
        sigil = match["sigil"] or ""
        if sigil.startswith("&") and language == "perl":
            yield name
        elif sigil and not sigil.startswith("&"):
            continue
        elif name not in safe and name not in own:
            start = match.start()
            if text[start - 1 : start] in ("$", "@", "%") or (text[start - 1 : start].isdigit() and len(name) < 3):
                continue
            if (
                language == "ruby"
                and text[match.end() : match.end() + 1] == ":"
                and text[match.end() : match.end() + 2] != "::"
            ):
                continue
            if language == "perl" and (
                name in ("s", "m", "y", "tr", "q", "qq", "qr")
                or (name == "do" and text[match.end() :].lstrip()[:1] == "{")
                or (name[0] == "x" and name[1:].isdigit())
                or (len(name) == 1 and text[start - 1 : start] == "-")  # a test of a file: -e, -d
            ):
                continue
            yield name
