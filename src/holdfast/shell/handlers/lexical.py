"""JavaScript, Perl, Ruby, PHP and Lua code, by the calls that matter in them.

These languages have no grammar here. Strings and comments are told apart from code, then known calls are
looked for; code that calls only harmless things may be proven to read, everything else is unknown.
"""

# ruff: noqa: SIM905 - long lists of words read better as text

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.shell.handlers.code_words import SAFE_WORDS, blank, unknown_words
from holdfast.shell.lazy import Lazy

if TYPE_CHECKING:
    from holdfast.shell.handlers.code import CodeSink

_STRING = Lazy(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|\[\[.*?\]\]", re.DOTALL)
_Q = Lazy(r"\b(?:qx|q|qq|%x|%q|%Q)\s*([{(\[</!|])(.*?)[})\]>/!|]", re.DOTALL)
_RUNS = Lazy(
    r"\b(?:system|exec|popen|popen2|popen3|spawn|spawnSync|execSync|execFile|execFileSync|fork|shell_exec|passthru|proc_open"
    r"|pcntl_exec|capture2|capture3|capture2e|os\.execute|io\.popen|IO\.popen|Open3\.\w+|Kernel\.\w+|Process\.spawn"
    r"|syscall|Deno\.run|Deno\.Command|Bun\.spawn\w*|getoutput|check_output|check_call|Popen|subprocess\.run"
    r"|Runtime\.getRuntime\(\)\.exec|ProcessBuilder)"
    r"(?:\s*\(|\s+(?=[\"'`{%q]))"
)
_TREE = Lazy(
    r"(?:\b(?:rm_rf|rm_r|remove_entry_secure|rmtree|remove_tree|rimraf|rmSync|remove_dir_all|removeSync|emptyDirSync)\b"
    r"|\bfs\.rm\b|\bfs\.promises\.rm\b|\bfsp?\.rmdir\w*\b)",
)
_DELETE = Lazy(
    r"\b(?:unlink|unlinkSync|rmdir|rmdirSync|File\.delete|File\.unlink|FileUtils\.rm|FileUtils\.rm_f|os\.remove|os\.rename"
    r"|Dir\.rmdir|Deno\.remove|truncate|truncateSync|FileUtils\.rmdir|Dir\.delete)\b",
)
_WRITE = Lazy(
    r"\b(?:writeFile|writeFileSync|appendFile|appendFileSync|createWriteStream|copyFile|copyFileSync|renameSync|fs\.rename"
    r"|mkdirSync|fs\.mkdir|symlinkSync|File\.write|File\.binwrite|IO\.write|FileUtils\.\w+|file_put_contents|fwrite|fputs"
    r"|copy|rename|mkdir|touch|symlink|link|move_uploaded_file|io\.output|Deno\.writeTextFile|Bun\.write|chmod|chmodSync|chown"
    r"|chownSync|cp|cpSync|fs\.cp)\s*\(|\bopen\s*\(?[^;)]*?[,(]\s*[\"']\s*(?:\+?>|>>|w|a|r\+)"
    r"|File\.open\s*\(?[^;)]*,\s*[\"'](?:w|a|r\+)|\bopen\s*\([^;)]*,\s*[\"'](?:w|a|r\+)|fopen\s*\([^;)]*,\s*[\"'](?:w|a|x|c|r\+)",
)
_READ = Lazy(
    r"\b(?:readFile|readFileSync|createReadStream|File\.read|IO\.read|IO\.readlines|File\.readlines|File\.open|file_get_contents"
    r"|readfile|fopen|file|io\.open|io\.lines|readdirSync|File\.foreach|open|require_relative)\s*\(?\s*(\"[^\"]*\"|'[^']*')"
)
_NETWORK = Lazy(
    r"\b(?:fetch|http\.get|https\.get|http\.request|https\.request|net\.connect|net\.createConnection|net\.createServer"
    r"|net\.Socket|axios|XMLHttpRequest|WebSocket|TCPSocket|TCPServer|UDPSocket|Net::HTTP|URI\.open|URI\.parse|open-uri|fsockopen"
    r"|pfsockopen|curl_init|curl_exec|IO::Socket|Socket|socket|stream_socket_client|LWP::\w+|HTTP::Tiny|dgram|createServer"
    r"|tls\.connect|urlopen|requests\.\w+|socket\.connect)\b"
)
_HIDES = Lazy(
    r"\b(?:eval|exec|Function|instance_eval|assert|create_function|loadstring|load|vm\.runIn\w+|compile)\b[^;]{0,60}"
    r"(?:base64|b64decode|fromCharCode|unescape|atob|unpack|decode64|gzinflate|str_rot13|decompress|Buffer\.from|hex2bin|fromhex|pack\s*\()",
    re.IGNORECASE,
)
_EVAL = Lazy(r"\b(?:eval|Function|instance_eval|class_eval|loadstring|vm\.runIn\w+|assert)\s*[\s(]|\$\{?\s*\\?\s*`")
_IDENTITY = Lazy(
    r"\b(?:setuid|setgid|POSIX::setuid|Process::Sys\.setuid|Process\.setuid|posix_setuid|posix\.setuid)\b|\$<\s*=|\$>\s*=\s*0"
)
_CALL = Lazy(r"([A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)*[!?]?)\s*\(")
_SAFE_CALL = Lazy(
    r"(?:.*(?:\.|::|->))?(?:console|log|print|printf|println|puts|p|pp|say|echo|join|split|map|filter|reduce|forEach|each|keys|values"
    r"|entries|stringify|parse|slice|length|substr|substring|replace|replaceAll|sub|gsub|match|test|toString|toFixed|to_s|to_i|inspect"
    r"|sort|reverse|uniq|length|size|push|pop|shift|unshift|concat|includes|indexOf|trim|toUpperCase|toLowerCase|upper|lower|uc|lc"
    r"|ucfirst|lcfirst|sprintf|format|int|abs|sqrt|floor|ceil|round|max|min|random|now|Date|time|localtime|gmtime|strftime|date"
    r"|require|import|readFileSync|readFile|existsSync|statSync|readdirSync|file_get_contents|json_decode|json_encode|JSON|var_dump"
    r"|print_r|phpversion|phpinfo|php_uname|ini_get|strlen|count|implode|explode|array_\w+|str_\w+|strtoupper|strtolower|defined|scalar"
    r"|if|while|for|foreach|switch|return|function|catch|and|or|not|unless|until|elsif|grep|chomp|chop|ord|chr|hex|oct|length|exists"
    r"|version|versions|read|readlines|lines|close|exit|die|isArray|Number|String|Boolean|Array|Object|Math|Set|Map|parseInt|parseFloat"
    r"|charCodeAt|charAt|padStart|padEnd|repeat|startsWith|endsWith|assign|freeze|flat|flatMap|find|some|every|on|then|resolve|dirname"
    r"|basename|extname|cwd|uptime|platform|arch|cpus|totalmem|freemem|hostname|homedir|tostring|tonumber|type|pairs|ipairs|concat|rep"
    r"|zip|sum|first|last|select|reject|collect|inject|any|all|none|times|upto|step|to_f|to_a|to_h|strip|chars|bytes|center|ljust|rjust"
    r"|eq|ne|lt|gt|my|our|local|use|sum0|md5|sha1|createHash|update|digest|hexdigest|Buffer|from|encode|decode|encode64|atob|btoa|toISOString"
    r"|getTime|setEncoding|end|stat|foreach|each_with_index|each_line|gets|rand|srand|number_format|microtime|memory_get_usage|isset|empty)\Z",
    re.DOTALL,
)


MAX_PROGRAM = 8192


def read_lexically(language: str, code: str, sink: CodeSink, dynamic: bool) -> None:
    if len(code) > MAX_PROGRAM:
        sink.unknown(f"the {language} program is longer than is followed")
        code = code[:MAX_PROGRAM]
    understood = True
    code = _without_comments(language, code)
    if _HIDES.search(code):
        sink.hides(f"{language} runs decoded text")
        understood = False
    elif _EVAL.search(_blank_strings(code)):
        sink.unknown(f"the {language} program runs text that it builds")
    if _IDENTITY.search(code):
        sink.escalates(f"the {language} program takes another identity")
    if language in ("perl", "ruby", "php"):
        for match in re.finditer(r"`((?:[^`\\]|\\.)*)`", code):
            sink.runs(match[1])
    for match in _Q.finditer(code):
        if match[0].startswith(("qx", "%x")):
            sink.runs(match[2])
    for match in _RUNS.finditer(code):
        if language == "ruby" and match[0].startswith(("Kernel.puts", "Kernel.print")):
            continue
        if re.match(r"exec\s*\(", match[0]) and language == "node" and code[: match.start()].endswith("."):
            before = code[: match.start()]
            if not re.search(r"child_process['\"]?\)?\.$|\bcp\.$|\bexec\.$|process\.$", before):
                continue  # RegExp.prototype.exec
        sink.runs(_arguments(code, match.end()))
    _deletions(code, sink)
    for match in _WRITE.finditer(_keep_strings(code)):
        sink.writes(_first_string(code, match.start()), append="append" in match[0].lower())
    for match in _READ.finditer(code):
        sink.reads(match[1][1:-1])
    if _NETWORK.search(_blank_strings(code)) or re.search(
        r"require\s*\(?['\"](?:https?|net|dgram|tls|socket|open-uri|un)['\"]", code
    ):
        url = re.search(r"https?://[^\s\"'`)]+", code)
        sink.network(url[0] if url is not None else None)
        if re.search(r"/bin/(?:ba|z|da|k)?sh|cmd\.exe|powershell", code):
            sink.reverse_shell()
    if re.search(r"process\.env\b|\bENV\b|%ENV|getenv|\$_ENV", code):
        sink.secret = True
    if language == "applescript":
        for match in re.finditer(r'do shell script\s+"((?:[^"\\]|\\.)*)"', code):
            sink.runs(match[1].replace('\\"', '"'))
    if language in ("powershell", "encoded"):
        _powershell(language, code, sink)
    if _SHELL_IN_CODE.search(code):
        sink.record.finding("dangerous", "escape", program=sink.context.via[-1] if sink.context.via else language)
    if language not in ("perl", "ruby", "php", "node", "lua"):
        sink.unknown(f"a {language} program is not read here")
        if re.search(r"socket|connect|tcp", code, re.I) and re.search(
            r"\b(?:exec|run|system|popen|eval|spawn)\b", code
        ):
            sink.reverse_shell()
        return
    if dynamic:
        sink.unknown(f"the {language} program holds values of the shell")
    elif understood:
        _unproven(language, code, sink)
        _foreign_modules(language, code, sink)


def _unproven(language: str, code: str, sink: CodeSink) -> None:
    """Everything that the program calls must be known to change nothing; otherwise it is unknown."""
    blanked = blank(language, code)
    text = blanked.text
    if blanked.strange:
        sink.unknown(f"the {language} program holds {blanked.strange}")
    for match in _CALL.finditer(text):
        if not _SAFE_CALL.match(match[1]):
            sink.unknown(f"the {language} program calls {match[1]}")
            return
    if language in SAFE_WORDS:
        word = next(unknown_words(language, text), "")
        if word:
            sink.unknown(f"the {language} program uses {word}")
    elif (found := _INDIRECT[language].search(text)) is not None:
        sink.unknown(f"the {language} program calls what is not known before it runs ({found[0].strip()!r})")


# Calls whose name is computed, passed on as a value, or made without parentheses.
_INDIRECT = {
    "node": Lazy(
        r"[\])]\s*\((?!\s*\w*\s*(?:,\s*\w+\s*)*\)\s*=>)|[\w)\]]\s*`|\[\s*[\"'`]\s*[\"'`]\s*\]\s*\(|\bnew\s+(?!Date|Set|Map|Array|RegExp"
        r"|Error|Intl|URL|Uint\w+|Number|String|Object|Promise)\w+|\b(?:require|fs|process|module|global\w*)\b[^;\n]{0,40}?\)?\s*\["
        r"|\b(?:mkdir|rename|symlink|link|copyFile|cp|chmod|chown|utimes|lutimes|truncate|write\w*|append\w*|createWriteStream"
        r"|mkdtemp|opendir|watch|open|rm|rmdir|unlink|exec\w*|spawn\w*|fork|kill|chdir|binding|dlopen|setuid)(?:Sync)?\b"
        r"|\bprocess\s*\.\s*(?:kill|chdir|abort|dlopen|binding|mainModule|setuid|setgid|umask)\b"
    ),
    "php": Lazy(
        r"\b(?:include|require)(?:_once)?\b|\barray_(?:map|walk\w*|filter|reduce|u\w+)\b|\bu[ak]?sort\b|call_user_func|register_"
        r"|`|[\])}]\s*\(|\bnew\b|::|->\s*\$"
    ),
    "lua": Lazy(
        r"[\])]\s*[({\"']|\b(?:dofile|loadfile|load|loadstring|require|setmetatable|debug|package|_G|_ENV|io\.popen"
        r"|os\.(?!time|date|clock|getenv|difftime)\w+|io\.(?!read|lines|write|stdout|stderr|type)\w+)\b"
    ),
}


_POWERSHELL = Lazy(
    r"\b(?:Remove-Item|ri|rm|del|rd|erase)\b[^;|\n]*-(?:Recurse|r|Force|fo)\b|\bFormat-Volume\b|\bClear-(?:Disk|Content|EventLog|RecycleBin)\b"
    r"|\b(?:Stop|Restart)-Computer\b|\bRemove-(?:Partition|VM|ADUser|LocalUser|AzResourceGroup|ItemProperty)\b|\bSet-MpPreference\b"
    r"|\bSet-ExecutionPolicy\b|\bNew-(?:LocalUser|ScheduledTask|Service)\b|\bRegister-ScheduledTask\b",
    re.IGNORECASE,
)
_POWERSHELL_HIDES = Lazy(
    r"\b(?:iex|Invoke-Expression)\b|DownloadString|DownloadFile|FromBase64String|\bNet\.WebClient\b|\bTCPClient\b|-enc\w*\s",
    re.IGNORECASE,
)


def _powershell(language: str, code: str, sink: CodeSink) -> None:
    if language == "encoded":
        sink.hides("the PowerShell program is encoded")
    if _POWERSHELL_HIDES.search(code):
        sink.hides("PowerShell runs text that it builds or downloads")
    found = _POWERSHELL.search(code)
    if found is not None:
        sink.deletes(None, True)
        sink.record.finding("dangerous", "program", program="PowerShell", why=f"{found[0][:60]!r} destroys something")


_SHELL_IN_CODE = Lazy(r"[\"'`({\[\s](?:/usr)?/bin/(?:ba|da|z|k|c|tc|a)?sh\b|\bspawn\s+(?:ba|z)?sh\b|\(shell\b|\(term\s")
_SAFE_RUBY = frozenset(
    ("json", "csv", "date", "time", "set", "yaml", "erb", "digest", "pp", "fileutils", "base64", "bigdecimal")
)
_SAFE_NODE = frozenset(
    "fs path os util url crypto assert events stream zlib querystring buffer process string_decoder http"
    " https net child_process".split()
)


def _foreign_modules(language: str, code: str, sink: CodeSink) -> None:
    if language == "node":
        for match in re.finditer(r"(?:require|import)\s*\(?\s*['\"](?:node:)?([^'\"]+)['\"]", code):
            if match[1].split("/")[0] not in _SAFE_NODE and not match[1].endswith(".json"):
                sink.unknown(f"the module {match[1]} is run")
    elif language in ("ruby", "php", "lua"):
        for match in re.finditer(
            r"\b(?:require|require_relative|require_once|include|include_once|load|dofile|loadfile)\b\s*\(?\s*['\"]([^'\"]+)",
            code,
        ):
            if match[1] not in _SAFE_RUBY:
                sink.unknown(f"the file or library {match[1]} is run")
    elif language == "perl":
        for match in re.finditer(r"\b(?:use|require|no)\s+([\w:./\"'-]+)", code):
            if not match[1].startswith(
                (
                    "strict",
                    "warnings",
                    "utf8",
                    "feature",
                    "integer",
                    "big",
                    "v5",
                    "5",
                    "open",
                    "locale",
                    "bytes",
                    "POSIX",
                    "List::",
                    "Data::",
                    "JSON",
                    "Time::",
                    "File::Basename",
                    "MIME::",
                    "Scalar::",
                    "Digest::",
                    "Socket",
                    "Encode",
                )
            ):
                sink.unknown(f"the module {match[1]} is run")


def _deletions(code: str, sink: CodeSink) -> None:
    for pattern, recursive in ((_TREE, True), (_DELETE, False)):
        for match in pattern.finditer(_blank_strings(code)):
            deep = recursive
            if match[0].startswith(("fs.rm", "fsp.rm", "rmSync", "fs.promises.rm")):
                tail = code[match.end() : match.end() + 160]
                deep = "recursive" in tail
            sink.deletes(_first_string(code, match.end()), deep)


def _without_comments(language: str, code: str) -> str:
    if language in ("perl", "ruby", "python"):
        return re.sub(r"(?m)^\s*#[^!].*$", "", code)
    if language == "lua":
        return re.sub(r"(?m)^\s*--(?!\[\[).*$", "", code)
    return re.sub(r"(?m)^\s*//.*$", "", code)


def _blank_strings(code: str) -> str:
    return _STRING.sub(lambda m: m[0][0] + " " * (len(m[0]) - 2) + m[0][-1] if len(m[0]) > 1 else m[0], code)


def _keep_strings(code: str) -> str:
    return code


def _first_string(code: str, at: int) -> str | None:
    opened = re.match(r"open\s*\(?\s*[^,;]+,\s*[\"'][^\"']*[\"']\s*,\s*[\"']([^\"']+)[\"']", code[at : at + 300])
    if opened is not None:  # perl: open(F, ">", "name")
        return opened[1]
    end = code.find("\n", at)
    window = code[at : min(end if end >= 0 else len(code), at + 400)]
    call = re.match(r"[\w.:!]*\s*\(?\s*\[?\s*(\"[^\"]*\"|'[^']*'|`[^`]*`)", window)
    return call[1][1:-1] if call is not None else None


def _arguments(code: str, at: int) -> str | list[str] | None:
    """The constant arguments of a call that starts a process."""
    window = code[at : at + 2000]
    if window[:1] in ('"', "'", "`", "%", "q"):
        pass
    words: list[str] = []
    position = 0
    while position < len(window):
        rest = window[position:]
        space = re.match(r"[\s,\[\]+.{]+", rest)
        if space is not None:
            position += space.end()
            continue
        quoted = re.match(r"q[qwx]?\s*[{(](.*?)[})]|%w?[\[({](.*?)[\])}]", rest, re.DOTALL)
        if quoted is not None:
            words.append(quoted[1] or quoted[2] or "")
            position += quoted.end()
            continue
        string = _STRING.match(rest)
        if string is None:
            break
        words.append(re.sub(r"\\([\"'`\\$@])", r"\1", string[0][1:-1]))
        position += string.end()
        if len(words) > 40:
            break
    if not words:
        return None
    if len(words) == 1:
        return words[0]
    return words
