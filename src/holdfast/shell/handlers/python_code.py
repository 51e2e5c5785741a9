"""Python code, by Python's own grammar: nothing is run, names and constants are followed."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

from holdfast.shell.handlers import python_names as names
from holdfast.shell.handlers.lexical import read_lexically
from holdfast.shell.handlers.python_constants import PythonConstants
from holdfast.shell.lazy import Lazy

if TYPE_CHECKING:
    from holdfast.shell.handlers.code import CodeSink

_MAX_NODES = 4000
_PRINT_STATEMENT = Lazy(r"\bprint[ \t]+(?!\()(?!print\()([^;\n#]+)")


def read_python(code: str, sink: CodeSink, dynamic: bool) -> None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        modern = _PRINT_STATEMENT.sub(r"print(\1)", code)
        if modern != code:  # Python 2 wrote print without parentheses
            read_python(modern, sink, dynamic)
            return
        sink.unknown("the Python program is not understood")
        read_lexically("python", code, sink, dynamic)
        return
    reader = _PythonReader(sink)
    try:
        for count, node in enumerate(ast.walk(tree)):
            if count > _MAX_NODES:
                sink.unknown("the Python program is longer than is followed")
                break
            reader.visit(node)
    except RecursionError:
        sink.unknown("the Python program is nested deeper than is followed")
    reader.finish()
    if dynamic:
        sink.unknown("the Python program holds values of the shell")


class _PythonReader(PythonConstants):
    def __init__(self, sink: CodeSink) -> None:
        super().__init__()
        self.sink = sink
        self.sockets = False
        self.duplicates = False
        self.defined: set[str] = set()

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for alias in node.names:
                self.names[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
                self.module(alias.name)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                self.names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
            self.module(node.module or "")
        elif isinstance(node, ast.Assign):
            value = self.constant(node.value)
            for target in node.targets:
                if isinstance(target, ast.Name):
                    if value is not None:
                        self.values[target.id] = value
                    dotted = self.dotted(node.value)
                    if dotted:
                        self.names[target.id] = dotted
                elif isinstance(target, ast.Subscript) and self.dotted(target.value) == "os.environ":
                    pass
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef)):
            self.defined.add(node.name)
        elif isinstance(node, ast.Call):
            self.call(node)
        elif isinstance(node, ast.Attribute) and self.dotted(node) == "os.environ":
            self.sink.secret = True

    def module(self, name: str) -> None:
        root = name.split(".", maxsplit=1)[0]
        if root not in names.SAFE_MODULES:
            self.sink.unknown(f"the Python module {root} is not known")
        if name == "ctypes":
            self.sink.unknown("ctypes can do anything")

    def call(self, node: ast.Call) -> None:
        name = self.dotted(node.func).removeprefix("builtins.").removeprefix("__builtins__.")
        sink = self.sink
        if name in names.RUNS:
            self.process(name, node)
        elif name in names.HIDERS:
            self.evaluated(name, node)
        elif name in names.DELETES:
            sink.deletes(self.text(node, 0), names.DELETES[name])
        elif name in names.WRITES:
            self.written(name, node)
        elif name in names.PERMISSIONS:
            if "uid" in name or "gid" in name:
                sink.escalates(f"{name} takes another identity")
            else:
                sink.permissions(self.text(node, 0))
        elif name in ("open", "io.open", "codecs.open", "gzip.open", "os.open", "bz2.open", "lzma.open"):
            self.opened(node)
        elif self.is_network(name):
            self.networked(name, node)
        elif name == "os.dup2":
            self.duplicates = True
        elif name.startswith(("pickle.load", "marshal.load", "yaml.load", "yaml.unsafe_load")):
            sink.unknown(f"{name} builds objects from data")
        elif name in ("os.kill", "os.killpg", "os.fork", "os.setsid", "os.putenv", "os.chroot", "runpy.run_path",
                      "runpy.run_module", "os.chdir", "os._exit", "os.abort"):  # fmt: skip
            if name not in ("os.chdir", "os._exit", "os.abort", "os.setsid"):
                sink.unknown(f"the Python program calls {name}")
            if name == "os.fork":
                sink.unknown("the Python program starts copies of itself")
        elif isinstance(node.func, ast.Attribute) and not self.is_module_function(name):
            self.method(node.func, node)
        elif not self.is_safe_function(name, node):
            sink.unknown(f"the Python program calls {name or 'something computed'}")

    def is_module_function(self, name: str) -> bool:
        root = name.split(".", maxsplit=1)[0]
        return (
            bool(root) and root in names.SAFE_MODULES and root in self.names.values()
        ) or name in self.names.values()

    def is_safe_function(self, name: str, node: ast.Call) -> bool:
        if name in names.SAFE_BUILTINS or name in self.defined:
            return True
        root = name.split(".", maxsplit=1)[0]
        if root in (
            "ctypes",
            "runpy",
            "multiprocessing",
            "asyncio",
            "threading",
            "signal",
            "webbrowser",
            "pty",
            "importlib",
        ):
            return False
        if root in ("os",):
            return name.startswith(("os.path.", "os.environ")) or name in names.SAFE_OS
        if root in ("shutil", "subprocess", "tempfile", "sqlite3", "zipfile", "tarfile"):
            return name in (
                "shutil.which",
                "shutil.disk_usage",
                "shutil.get_terminal_size",
                "zipfile.ZipFile",
                "tempfile.gettempdir",
            )
        return root in names.SAFE_MODULES

    # -- kinds of calls -----------------------------------------------------------------------------

    def process(self, name: str, node: ast.Call) -> None:
        if self.sockets and self.duplicates:
            self.sink.reverse_shell()
        shell_flag = any(k.arg == "shell" and self.constant(k.value) is True for k in node.keywords)
        if name.startswith("os.exec") or name.startswith("os.spawn") or name in ("os.posix_spawn", "os.posix_spawnp"):
            offset = 1 if name.startswith("os.spawn") else 0
            values = [self.constant(a) for a in node.args[offset:]]
            if len(values) > 1 and isinstance(values[1], list):
                words = values[1]
            else:
                words = [v for v in values[1:] if isinstance(v, str)] or values[:1]
            program = values[0] if values and isinstance(values[0], str) else None
            self.sink.runs([program, *words[1:]] if program is not None else None)
            return
        value = (
            self.constant(node.args[0])
            if node.args
            else next((self.constant(k.value) for k in node.keywords if k.arg == "args"), None)
        )
        if isinstance(value, list) and all(isinstance(v, str) for v in value):
            self.sink.runs(" ".join(value) if shell_flag else value)
        elif isinstance(value, str):
            is_shell = (
                name.startswith(("os.", "commands", "asyncio"))
                or shell_flag
                or "getoutput" in name
                or "getstatus" in name
            )
            self.sink.runs(value if is_shell else [value])
        elif isinstance(value, list) and value and isinstance(value[0], str):
            self.sink.runs([v if isinstance(v, str) else "$value" for v in value])
        else:
            partial = self.partial(node.args[0]) if node.args else None
            self.sink.runs(partial)
            if partial is not None:
                self.sink.unknown("the inline program builds part of its command")

    def evaluated(self, name: str, node: ast.Call) -> None:
        if name == "__import__":
            return
        value = self.constant(node.args[0]) if node.args else None
        if isinstance(value, (str, bytes)):
            text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
            if not isinstance(node.args[0], ast.Constant):
                self.sink.hides(f"{name} of decoded text")
            read_python(text, self.sink, False)
            return
        source = ast.dump(node.args[0])[:2000] if node.args else ""
        if any(
            word in source
            for word in (
                "b64decode",
                "decompress",
                "fromhex",
                "rot13",
                "decode",
                "urlopen",
                "requests",
                "unhexlify",
                "loads",
            )
        ):
            self.sink.hides(f"{name} of decoded or downloaded text")
        self.sink.unknown(f"the Python program runs text with {name}")

    def written(self, name: str, node: ast.Call) -> None:
        index = (
            1
            if name.startswith(
                ("shutil.copy", "shutil.move", "os.rename", "os.replace", "os.symlink", "os.link", "urllib")
            )
            else 0
        )
        if name.startswith("tempfile"):
            self.sink.writes("/tmp/tmp")
            return
        if name.startswith(("shutil.move", "os.rename", "os.replace")):
            self.sink.record.add(
                "deletes", self.text(node, 0) or "a file named by the program", self.sink.command, "moved"
            )
        elif name.startswith("shutil.copy"):
            self.sink.reads(self.text(node, 0))
        if name.startswith("urllib"):
            self.sink.network(self.text(node, 0))
        self.sink.writes(self.text(node, index))

    def opened(self, node: ast.Call) -> None:
        path = self.text(node, 0)
        mode = self.text(node, 1) if len(node.args) > 1 else None
        given = len(node.args) > 1
        for keyword in node.keywords:
            if keyword.arg == "mode":
                given = True
                value = self.constant(keyword.value)
                mode = value if isinstance(value, str) else None
        if given and mode is None:
            self.sink.writes(path)
        elif mode is not None and any(c in mode for c in "wax+"):
            self.sink.writes(path, append="a" in mode)
        else:
            self.sink.reads(path, whole=False)

    def is_network(self, name: str) -> bool:
        return name not in names.NETWORK_SAFE and any(
            name == module or name.startswith(module + ".") for module in names.NETWORK_MODULES
        )

    def networked(self, name: str, node: ast.Call) -> None:
        if name == "socket.socket":
            self.sockets = True
        self.sink.network(self.text(node, 0))
        if name.endswith(".delete"):
            self.sink.record.finding("dangerous", "http_delete", target=self.text(node, 0) or "something")

    def method(self, function: ast.Attribute, node: ast.Call) -> None:
        attribute = function.attr
        sink = self.sink
        owner = self.path_of(function.value)
        if attribute in names.DELETE_METHODS:
            sink.deletes(owner if owner is not None else self.text(node, 0), names.DELETE_METHODS[attribute])
        elif attribute in names.WRITE_METHODS:
            sink.writes(owner if owner is not None else self.text(node, 0) if attribute.startswith("to_") else None)
        elif attribute in ("rename", "replace") and owner is not None:
            sink.record.add("deletes", owner, sink.command, "moved")
            sink.writes(self.text(node, 0))
        elif attribute == "open" and owner is not None:
            mode = self.text(node, 0) if node.args else "r"
            if mode is None or any(c in mode for c in "wax+"):
                sink.writes(owner)
            else:
                sink.reads(owner)
        elif attribute in ("read_text", "read_bytes") and owner is not None:
            sink.reads(owner, whole=False)
        elif attribute == "chmod":
            sink.permissions(owner)
        elif attribute in ("system", "popen", "spawn", "check_output", "Popen"):
            value = self.text(node, 0)
            sink.runs(value)
        elif attribute in ("connect", "sendall", "send", "post", "put", "urlopen"):
            sink.network(self.text(node, 0))
        elif attribute in ("execute", "executescript", "executemany"):
            statement = self.text(node, 0)
            if statement is None:
                sink.unknown("the Python program runs a statement that is not known")
            else:
                sink.sql(statement)
                if not statement.lstrip().lower().startswith(("select", "pragma", "explain")):
                    sink.record.read_only = False
        elif attribute not in names.SAFE_METHODS:
            base = function.value
            if not (isinstance(base, ast.Name) and base.id in self.defined):
                sink.unknown(f"the Python program calls .{attribute}()")

    def finish(self) -> None:
        if self.sockets and self.duplicates:
            self.sink.reverse_shell()
