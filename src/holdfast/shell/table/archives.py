"""Archives and compression."""

# ruff: noqa: E501 - one program a line, as in a table

_COMPRESS = {
    "pos": "write",
    "opts": {"-S": "val", "-o": "write", "-T": "val", "-D": "read", "--suffix": "val", "--threads": "val", "-M": "val", "-b": "val", "-p": "val"},
    "when": [["-c|--stdout|--to-stdout|-t|--test|-l|--list", {"ro": True, "pos": "read"}], ["n=0", {"ro": True}]],
    "risk": "caution",
    "why": "it replaces files by compressed or unpacked ones",
}  # fmt: skip

TABLE = {
    "tar|gtar|bsdtar|star": {"ro": True, "handler": "tar"},
    "gzip|pigz|bzip2|pbzip2|lbzip2|xz|pxz|lzma|zstd|lz4|lzop|lzip|brotli|compress": _COMPRESS,
    "lz4": {**_COMPRESS, "when": [["-c|--stdout|-t|--test|--list", {"ro": True, "pos": "read"}], ["n=0", {"ro": True}]]},
    "gunzip|bunzip2|unxz|unlzma|unzstd|unlz4|uncompress|unpigz": {**_COMPRESS, "handler": "decoder"},
    "zcat|bzcat|xzcat|lzcat|zstdcat|gzcat|lz4cat": {"ro": True, "pos": "print", "handler": "decoder"},
    "zdiff|zcmp|bzdiff|xzdiff|zipinfo|lsar|unrar-list": {"ro": True, "pos": "read"},
    "zip": {"pos": ["write", "read"], "opts": {"-x": "val", "-i": "val", "-P": "val", "-s": "val", "-b": "val", "-n": "val", "-t": "val", "-TT": "shell", "--unzip-command": "shell"}, "when": [["-m|--move", {"risk": "caution", "why": "it deletes the files that it packs"}], ["-sf", {"ro": True, "pos": "read"}]]},
    "unzip": {"pos": ["read", "val"], "opts": {"-d": "write", "-x": "val", "-P": "val", "-O": "val", "-I": "val"}, "when": [["-l|-t|-v|-Z|-p|-c", {"ro": True}], ["!-l !-t !-v !-Z !-p !-c !-d", {"fx": ["writes:."]}]]},
    "unar": {"pos": "read", "opts": {"-o": "write", "-output-directory": "write"}, "fx": ["writes:."]},
    "7z|7za|7zr|p7zip|7zz": {"sub": {"l|t|i|h|b": {"ro": True, "pos": "read"}, "a|u|rn": {"pos": ["write", "read"]}, "d": {"pos": ["write", "val"], "risk": "caution"}, "x|e": {"pos": ["read", "val"], "fx": ["writes:."]}}},
    "rar|unrar": {"sub": {"l|lb|lt|v|vt|t|p": {"ro": True, "pos": "read"}, "a|u|f|m|mf": {"pos": ["write", "read"]}, "d": {"pos": ["write", "val"], "risk": "caution"}, "x|e": {"pos": ["read", "val"], "fx": ["writes:."]}}},
    "ar|ranlib": {"pos": ["val", "write", "read"], "when": [["arg0~^-?[tp]", {"ro": True, "pos": ["val", "read"]}]]},
    "cpio": {"ro": True, "pos": "text", "opts": {"-F": "read", "-O": "write", "-I": "read", "-D": "dir", "-E": "read", "-H": "val", "-R": "val"}, "when": [["-i|--extract !-t !--list", {"ro": False, "fx": ["writes:."]}], ["-p|--pass-through", {"ro": False, "fx": ["writes:."]}]]},
    "openssl": {
        "ro": True,
        "style": "dash",
        "handler": "decoder",
        "pos": "text",
        "opts": {"-out": "write", "-keyout": "write", "-in": "read", "-inkey": "read", "-engine": "script", "-provider": "script", "-connect": "host", "-passin": "val", "-passout": "val", "-pass": "val", "-k": "val", "-days": "val", "-subj": "val", "-config": "read", "-CAfile": "read", "-cert": "read", "-key": "read", "-servername": "val", "-noout": "?val", "-text": "?val", "-CAkey": "read", "-CA": "read", "-signature": "read", "-verify": "?val", "-sign": "read", "-writerand": "write"},
        "when": [["-connect|-accept", {"ro": False, "fx": ["network"]}], ["-out|-keyout|-engine|-writerand", {"ro": False}]],
    },
    "gpg|gpg2": {
        "handler": "decoder",
        "pos": "read",
        "opts": {"-o": "write", "--output": "write", "-r": "val", "--recipient": "val", "-u": "val", "--keyserver": "val", "--passphrase": "val", "--homedir": "val", "--photo-viewer": "shell", "--batch": "?val"},
        "when": [["-d|--decrypt|--verify|-k|--list-keys|-K|--list-secret-keys|--fingerprint|--export|--list-packets|--list-sigs !-o !--output", {"ro": True}], ["--delete-keys|--delete-key|--delete-secret-keys|--delete-secret-key|--delete-secret-and-public-key", {"risk": "dangerous", "why": "it deletes keys", "pos": "text"}], ["--export-secret-keys|--export-secret-key|--export-secret-subkeys", {"ro": False, "out": "secret", "risk": "caution", "why": "it shows secret keys", "pos": "text"}], ["--recv-keys|--send-keys|--search-keys|--refresh-keys", {"fx": ["network"], "pos": "text"}], ["--list-keys|--list-secret-keys|--fingerprint|--export|-k|-K", {"pos": "text"}]],
    },
    "age|minisign|signify|sops": {"pos": "read", "opts": {"-o": "write", "--output": "write", "-r": "val", "-i": "read", "-s": "read", "-x": "write"}, "when": [["-d|--decrypt|-V", {"ro": True}], ["-i|--in-place", {}]]},
}  # fmt: skip
