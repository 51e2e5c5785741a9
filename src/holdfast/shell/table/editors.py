"""Editors and pagers that can run commands."""

# ruff: noqa: E501 - one program a line, as in a table

_VI = {
    "pos": "write",
    "style": "plus",
    "opts": {"-c": "vim", "--cmd": "vim", "-S": "script", "-s": "script", "-u": "val", "-U": "val", "-w": "write", "-W": "write", "-T": "val", "-i": "val", "--startuptime": "write", "-t": "val"},
    "handler": "vim",
}  # fmt: skip

TABLE = {
    "vi|vim|nvim|gvim|vimdiff|view|ex|rvim|rview|elvis|nvi|vim.tiny|vim.basic|gview|evim|mvim": _VI,
    "nano|pico|rnano|micro|joe|jmacs|jpico|rjoe|mcedit|ne|helix|hx|kak|zile|mg|jed|tilde|gedit|kate|kwrite|pluma|xed|mousepad|leafpad|geany|subl|code|code-insiders|codium|cursor|atom|notepad|notepad++|zed|bbedit|mate|textedit|idea|pycharm|webstorm": {
        "pos": "write",
        "opts": {"-s": "prog", "--speller": "prog", "-n": "?val", "--install-extension": "pkg", "--uninstall-extension": "val", "-g": "?val"},
        "risk": "caution",
        "why": "it opens an editor",
        "when": [["--list-extensions|--version|--help", {"ro": True, "risk": "safe", "pos": "text"}], ["-v n=0", {"ro": True, "risk": "safe", "pos": "text"}], ["arg0~^(?:tunnel|serve-web)$", {"risk": "dangerous", "why": "it opens this machine to the network"}], ["-s|--speller", {"risk": "dangerous", "why": "it runs a program for checking the spelling"}]],
    },
    "emacs|emacsclient|xemacs": {"style": "dash", "pos": "write", "opts": {"--eval": "code:elisp", "-eval": "code:elisp", "-e": "code:elisp", "-l": "script", "--load": "script", "-f": "val", "--script": "script", "-Q": "?val"}, "risk": "caution", "why": "it opens an editor"},
    "ed|red": {"pos": "write", "risk": "caution", "why": "it edits a file", "handler": "ed"},
}  # fmt: skip
