"""Variables that a command is given: some are programs in disguise, many change what a program does.

A variable that only changes how things are shown proves nothing away. Any other one may name a program, a file of
settings or a log (`GIT_TRACE=/etc/x`, `RUSTC=./x`), so a reading with it is not proven to be harmless, unless the
program is known to look at no variables of that kind.
"""

# ruff: noqa: SIM905 - long lists of words read better as text

from __future__ import annotations

import re

from holdfast.shell.lazy import Lazy

# The value is a command line.
CODE = frozenset(
    "PAGER GIT_PAGER MANPAGER GIT_EDITOR EDITOR VISUAL GIT_SSH_COMMAND GIT_SSH GIT_EXTERNAL_DIFF"
    " GIT_ASKPASS GIT_SEQUENCE_EDITOR GIT_PROXY_COMMAND LESSOPEN LESSCLOSE BROWSER SUDO_ASKPASS SUDO_EDITOR"
    " SSH_ASKPASS PROMPT_COMMAND SYSTEMD_PAGER SYSTEMD_EDITOR FCEDIT KUBE_EDITOR"
    " PSQL_EDITOR PSQL_PAGER RSYNC_RSH CVS_RSH SVN_SSH HGEDITOR HGMERGE BAT_PAGER DELTA_PAGER AWS_PAGER GH_PAGER"
    " GH_EDITOR GH_BROWSER SVN_EDITOR CVSEDITOR BORG_RSH BORG_PASSCOMMAND RESTIC_PASSWORD_COMMAND KUBECTL_EXTERNAL_DIFF"
    " RUSTC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER CARGO_BUILD_RUSTC MANROFFOPT MAILER NULLCMD READNULLCMD PERLDOC_PAGER"
    " RI_PAGER PYTHONBREAKPOINT".split()
)
# The value decides which code is loaded.
LOADERS = frozenset(
    "LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH BASH_ENV ENV"
    " PYTHONSTARTUP PYTHONPATH PYTHONHOME PERL5OPT PERL5LIB PERLLIB PERL5DB RUBYOPT RUBYLIB NODE_OPTIONS NODE_PATH"
    " JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH GCONV_PATH GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM"
    " GIT_TEMPLATE_DIR GIT_EXEC_PATH SHELLOPTS BASHOPTS PYTHONWARNINGS LUA_PATH LUA_CPATH LUA_INIT GUILE_LOAD_PATH"
    " OPENSSL_CONF TCLLIBPATH R_PROFILE R_PROFILE_USER PHPRC PHP_INI_SCAN_DIR XDG_CONFIG_HOME TAR_OPTIONS".split()
)
INJECTED = frozenset("LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES GCONV_PATH".split())
# A prompt is expanded before it is shown, commands in it included.
PROMPTS = frozenset("PS0 PS1 PS2 PS4".split())
# Programs that these variables name as a matter of course, and that start nothing else by themselves.
USUAL_VALUES = frozenset(
    "cat less more most true false : vi vim nvim nano emacs code delta bat head tail pico micro hx ssh".split()
)

_HARMLESS = Lazy(
    r"(?:LANG|LANGUAGE|LC_\w+|TZ|TERM|COLORTERM|NO_COLOR|FORCE_COLOR|CLICOLOR(?:_FORCE)?|COLUMNS|LINES|CI|DISPLAY"
    r"|DEBIAN_FRONTEND|AWS_(?:PROFILE|REGION|DEFAULT_REGION|DEFAULT_OUTPUT|DEFAULT_PROFILE)|GIT_(?:TERMINAL_PROMPT"
    r"|OPTIONAL_LOCKS|AUTHOR_\w+|COMMITTER_\w+|DISCOVERY_ACROSS_FILESYSTEM|LITERAL_PATHSPECS|ICASE_PATHSPECS)"
    r"|PYTHON(?:DONTWRITEBYTECODE|UNBUFFERED|IOENCODING|UTF8|HASHSEED|NOUSERSITE|OPTIMIZE|DEVMODE)|POSIXLY_CORRECT"
    r"|LS_COLORS|LSCOLORS|GREP_COLORS?|TIME_STYLE|BLOCK_?SIZE|NODE_ENV|RAILS_ENV|RACK_ENV|APP_ENV|MIX_ENV|FLASK_ENV"
    r"|DEBUG|VERBOSE|LOG_LEVEL|LOGLEVEL|HISTTIMEFORMAT|MANWIDTH|MAN_KEEP_FORMATTING|LESSCHARSET|SYSTEMD_COLORS"
    r"|SYSTEMD_LOG_LEVEL|RUST_BACKTRACE|RUST_LOG|GOOS|GOARCH|CGO_ENABLED|GH_HOST|GH_REPO|GH_PROMPT_DISABLED"
    r"|CARGO_TERM_COLOR|PGHOST|PGPORT|PGUSER|PGDATABASE|PGPASSWORD|PGTZ|PGCONNECT_TIMEOUT|MYSQL_PWD|REDISCLI_AUTH"
    r"|KUBE_NAMESPACE|HELM_NAMESPACE|TERMINFO|PIP_DISABLE_PIP_VERSION_CHECK|NPM_CONFIG_LOGLEVEL|npm_config_loglevel"
    r"|HOMEBREW_NO_\w+|XDG_RUNTIME_DIR|XAUTHORITY|WAYLAND_DISPLAY|IFS|OLDPWD|[a-z_][a-z0-9_]*)"
)
# What belongs to a tool: set for good, it changes every later run of it.
_OF_A_TOOL = Lazy(
    r"(?:GIT|BAT|RIPGREP|ACK|LESS|MAN|PYTHON|NODE|NPM|YARN|PNPM|PERL|RUBY|GEM|BUNDLE|LUA|PHP|JAVA|JDK|MAVEN|MVN|GRADLE|CGO"
    r"|CARGO|RUST|TF|KUBE|DOCKER|BUILDKIT|PODMAN|CONTAINERS?|COMPOSE|HELM|BORG|RESTIC|RCLONE|PIP|UV|POETRY|CONDA|ANSIBLE"
    r"|VAULT|SSH|RSYNC|CVS|SVN|HG|JJ|TAR|SYSTEMD|DPKG|APT|RPM|FZF|GPG|GNUPG|CURL|WGET|NMAP|PG|PSQL|MYSQL|SQLITE|GCC"
    r"|CLANG|CMAKE|CTEST|MESON|MAKE|PKG|NIX|HOMEBREW|SKIM|DELTA|EXIF|IMAGEMAGICK|MAGICK|FFREPORT)_\w+"
    r"|LESS|MANOPT|MANPATH|MAKEFLAGS|MFLAGS|GNUMAKEFLAGS|GO[A-Z]+|CC|CXX|CPP|LD|AR|AS|RANLIB|C(?:PP|XX)?FLAGS|LDFLAGS"
    r"|KUBECONFIG|FFREPORT|GZIP|XZ_OPT|ZSTD_\w+|UNZIP(?:OPT)?|ZIPINFO|ZIP(?:OPT)?|EXINIT|VIMINIT|GVIMINIT|MYVIMRC|INPUTRC"
    r"|HISTFILE|SHELL|MAILPATH|GREP_OPTIONS|AWKPATH|AWKLIBPATH|POSIXLY_CORRECT|HOSTALIASES|RES_OPTIONS|LOCALDOMAIN"
    r"|TERMCAP|TERMINFO(?:_DIRS)?|NLSPATH|MALLOC_\w+|FORTUNE_\w+|COWPATH"
)
# They look at the locale, the terminal and the time zone, and at nothing else that could do harm.
_INDIFFERENT = frozenset(
    "ls dir cat tac echo printf grep egrep fgrep head tail wc sort uniq cut tr seq date true false test [ [[ : find"
    " sed awk stat file du df basename dirname realpath readlink pwd env printenv sleep id whoami uname ps diff"
    " cmp comm paste join nl od xxd base64 md5sum sha1sum sha256sum sha512sum cksum tree which type nproc free uptime"
    " tee read export declare local set unset cd expr column rev fold fmt strings jq yes arch groups who w cal shuf"
    " command exec nice nohup timeout stdbuf time bash sh".split()
)


def is_harmless(name: str) -> bool:
    """It changes how things are shown, or it is a variable of the script's own."""
    return _HARMLESS.fullmatch(name) is not None


def belongs_to_tool(name: str) -> bool:
    return _OF_A_TOOL.fullmatch(name) is not None and not is_harmless(name)


def ignores(program: str, name: str) -> bool:
    """This program does not look at this variable."""
    return program in _INDIFFERENT and not belongs_to_tool(name)


def is_usual(value: str) -> bool:
    """`PAGER=cat`, `EDITOR='vim -R'`: a well-known program with options of one letter at most."""
    words = value.split()
    return not words or (
        words[0].rsplit("/", 1)[-1] in USUAL_VALUES and all(re.fullmatch(r"-[A-Za-z]{1,5}", w) for w in words[1:])
    )


# Programs that run what comes in when they are given nothing else, beside the shells and interpreters of the table.
EATS_CODE = frozenset(
    "deno bun rscript ts-node tsx swift scala groovy crystal elixir iex ghci runghc runhaskell ocaml racket guile sbcl"
    " clojure julia octave at batch crontab".split()
)
# A value that is nothing but a secret of the environment.
SECRET_VARIABLE = Lazy(
    r"@?\$\{?\w*(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIALS?)\w*\}?", re.IGNORECASE
)
