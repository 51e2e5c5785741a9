"""Shells and interpreters of programming languages."""

# ruff: noqa: E501 - one program a line, as in a table

TABLE = {
    "posh|sash|rc|bash|sh|zsh|dash|ksh|ash|mksh|rbash|yash|rksh|ksh93|fish|csh|tcsh|rzsh|bash-static|elvish|xonsh|osh|oil|nu": {"handler": "shell"},
    "python|pypy|ipython|bpython|jython|micropython|py|pythonw|sage": {"handler": "interpreter", "target": "python", "opts": {"-c": "code:python", "-m": "module", "-W": "val", "-X": "val", "--check-hash-based-pycs": "val"}},
    "node|nodejs": {"handler": "interpreter", "target": "node", "opts": {"-e": "code:node", "--eval": "code:node", "-p": "code:node", "--print": "code:node", "-r": "val", "--require": "val", "--import": "val", "--loader": "val", "-C": "val"}},
    "perl": {"handler": "interpreter", "target": "perl", "opts": {"-e": "code:perl", "-E": "code:perl", "-M": "val", "-m": "val", "-I": "val", "-i": "?val", "-0": "?num", "-F": "val", "-l": "?num", "-x": "?val", "-C": "?num", "-D": "val"}},
    "ruby|irb|jruby|rbx": {"handler": "interpreter", "target": "ruby", "opts": {"-e": "code:ruby", "-r": "val", "-I": "val", "-i": "?val", "-F": "val", "-E": "val", "-K": "val", "-C": "val", "-0": "?num", "-x": "?val", "-T": "?num", "-W": "?num"}},
    "php|php-cgi|hhvm": {"handler": "interpreter", "target": "php", "opts": {"-r": "code:php", "--run": "code:php", "-B": "code:php", "-R": "code:php", "-E": "code:php", "-d": "val", "-c": "val", "-f": "script", "-F": "script", "-S": "val", "-t": "val", "-z": "val"}},
    "lua|luajit|luau": {"handler": "interpreter", "target": "lua", "opts": {"-e": "code:lua", "-l": "val"}},
    "julia": {"handler": "interpreter", "target": "julia", "opts": {"-e": "code:julia", "--eval": "code:julia", "-E": "code:julia", "-p": "val", "-t": "val", "-L": "script", "-J": "val"}},
    "Rscript|R|r|littler": {"handler": "interpreter", "target": "r", "opts": {"-e": "code:r", "--eval": "code:r", "-f": "script"}},
    "guile|racket|scheme|sbcl|clisp|ecl|clojure|clj|bb|elixir|iex|erl|ghci|runghc|runhaskell|ocaml|swift|scala|groovy|kotlin|jshell|jrunscript|jjs|octave|maxima|gnuplot|gp|pry|tclsh|coffee|ts-node|tsx|esno|janet|fennel|raku|rakudo|escript|js|qjs|rhino|nickle|pike|rexx|regina|smalltalk|gst|gforth|picolisp|pil|yabasic|bwbasic": {
        "handler": "interpreter",
        "target": "other",
        "opts": {"-e": "code:other", "--eval": "code:other", "-c": "code:other", "-E": "code:other", "-eval": "code:other", "--expr": "code:other", "-p": "code:other", "--print": "code:other", "-x": "code:other", "-l": "val", "-r": "val", "--load": "script", "-noshell": "?val", "-cp": "val", "-classpath": "val"},
    },
    "java": {"style": "dash", "pos": ["script", "text"], "stop": True, "opts": {"-cp": "val", "-classpath": "val", "--class-path": "val", "-jar": "jar", "-p": "val", "--module-path": "val", "-m": "val", "--add-opens": "val"}, "when": [["-version|--version|-help|--help|-showversion", {"ro": True, "pos": "text"}]], "handler": "java"},
    "pwsh|powershell": {"handler": "interpreter", "target": "powershell", "opts": {"-c": "code:powershell", "-Command": "code:powershell", "-File": "script", "-EncodedCommand": "code:encoded", "-enc": "code:encoded", "-e": "code:encoded", "-ec": "code:encoded", "-ExecutionPolicy": "val", "-ep": "val", "-w": "val", "-WindowStyle": "val", "-f": "script"}, "style": "dash"},
    "cmd": {"pos": "text", "risk": "caution", "handler": "cmd"},
}  # fmt: skip
