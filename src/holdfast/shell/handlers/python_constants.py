"""Values of Python expressions that are known without running anything: joined, decoded, looked up."""

from __future__ import annotations

import ast
import base64
import binascii
from typing import Any


class PythonConstants:
    """Follows imports and assignments; everything it is asked about it answers without side effects."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}  # local name -> dotted name
        self.values: dict[str, Any] = {}

    def dotted(self, node: ast.AST) -> str:
        """`os.path.join` for what the expression names, following imports, `__import__` and getattr."""
        if isinstance(node, ast.Name):
            return self.names.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            base = self.dotted(node.value)
            return f"{base}.{node.attr}" if base else ""
        if isinstance(node, ast.Call):
            function = self.dotted(node.func)
            if function in ("__import__", "importlib.import_module", "builtins.__import__") and node.args:
                value = self.constant(node.args[0])
                return value if isinstance(value, str) else ""
            if function in ("getattr", "builtins.getattr") and len(node.args) >= 2:
                base, attribute = self.dotted(node.args[0]), self.constant(node.args[1])
                return f"{base}.{attribute}" if base and isinstance(attribute, str) else ""
            if function.endswith(("Path", "PurePath")) or function in ("open", "io.open"):
                return ""
        return ""

    def text(self, node: ast.Call, index: int) -> str | None:
        if index >= len(node.args):
            return None
        value = self.constant(node.args[index])
        if isinstance(value, str):
            return value
        return self.path_of(node.args[index])

    def path_of(self, node: ast.AST) -> str | None:
        """`Path("a") / "b"`: the path when it is constant."""
        if isinstance(node, ast.Call):
            name = self.dotted(node.func)
            if name in ("pathlib.Path", "Path", "pathlib.PurePath") and node.args:
                pieces = [self.constant(a) for a in node.args]
                return "/".join(pieces) if all(isinstance(p, str) for p in pieces) else None
            if name in ("Path.home", "pathlib.Path.home"):
                return "~"
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            left, right = self.path_of(node.left), self.constant(node.right)
            if left is not None and isinstance(right, str):
                return f"{left}/{right}"
        if isinstance(node, ast.Name):
            value = self.values.get(node.id)
            return value if isinstance(value, str) else None
        return None

    def constant(self, node: ast.AST, depth: int = 0) -> Any:
        """The value of the expression when it can be known without running anything dangerous."""
        if depth > 40:
            return None
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self.values.get(node.id)
        if isinstance(node, (ast.List, ast.Tuple)):
            return [self.constant(e, depth + 1) for e in node.elts]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = self.constant(node.left, depth + 1), self.constant(node.right, depth + 1)
            if type(left) is type(right) and isinstance(left, (str, bytes, list)) and len(left) + len(right) < 65536:
                return left + right
            return None
        if isinstance(node, ast.JoinedStr):
            pieces = []
            for value in node.values:
                piece = self.constant(value.value if isinstance(value, ast.FormattedValue) else value, depth + 1)
                if piece is None:
                    return None
                pieces.append(str(piece))
            return "".join(pieces)
        if isinstance(node, ast.Subscript):
            base = self.constant(node.value, depth + 1)
            if isinstance(base, (str, bytes)) and isinstance(node.slice, ast.Slice):
                step = self.constant(node.slice.step) if node.slice.step is not None else None
                if node.slice.lower is None and node.slice.upper is None and isinstance(step, (int, type(None))):
                    return base[::step] if step != 0 else None
            return None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self.constant(node.operand, depth + 1)
            return -value if isinstance(value, int) else None
        if isinstance(node, ast.Call):
            return self.constant_call(node, depth)
        return None

    def constant_call(self, node: ast.Call, depth: int) -> Any:
        name = self.dotted(node.func)
        values = [self.constant(a, depth + 1) for a in node.args]
        try:
            if name in ("base64.b64decode", "base64.decodebytes") and values and isinstance(values[0], (str, bytes)):
                return base64.b64decode(values[0])
            if name in ("bytes.fromhex", "binascii.unhexlify") and values and isinstance(values[0], str):
                return bytes.fromhex(values[0])
            if name == "chr" and values and isinstance(values[0], int) and 0 <= values[0] < 0x110000:
                return chr(values[0])
            if name == "str" and values and isinstance(values[0], (str, int)):
                return str(values[0])
            if name in ("os.path.join", "posixpath.join") and values and all(isinstance(v, str) for v in values):
                return "/".join(values)
            if (
                name in ("os.path.expanduser", "os.path.abspath", "os.path.expandvars")
                and values
                and isinstance(values[0], str)
            ):
                return values[0]
            if isinstance(node.func, ast.Attribute):
                base = self.constant(node.func.value, depth + 1)
                method = node.func.attr
                if isinstance(base, bytes) and method == "decode":
                    return base.decode("utf-8", "replace")
                if isinstance(base, str) and method == "join" and values and isinstance(values[0], list):
                    return base.join(values[0]) if all(isinstance(v, str) for v in values[0]) else None
                if (
                    isinstance(base, str)
                    and method in ("strip", "lower", "upper", "lstrip", "rstrip", "title")
                    and not values
                ):
                    return getattr(base, method)()
                if (
                    isinstance(base, str)
                    and method == "replace"
                    and len(values) == 2
                    and all(isinstance(v, str) for v in values)
                ):
                    return base.replace(*values)
                if isinstance(base, str) and method == "split" and all(isinstance(v, str) for v in values):
                    return base.split(*values)
                if isinstance(base, str) and method == "encode":
                    return base.encode()
                if isinstance(base, str) and method == "format" and all(isinstance(v, (str, int)) for v in values):
                    return base.format(*values)
        except (ValueError, binascii.Error, IndexError, KeyError, TypeError):
            return None
        return None

    def partial(self, node: ast.AST) -> str | None:
        """A string that is only partly constant still shows what it starts with."""
        if isinstance(node, ast.JoinedStr):
            pieces = []
            for value in node.values:
                known = self.constant(value.value) if isinstance(value, ast.FormattedValue) else self.constant(value)
                pieces.append(str(known) if known is not None else "$value")
            return "".join(pieces)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = self.partial(node.left), self.partial(node.right)
            if left is None and right is None:
                return None
            return (left if left is not None else "$value") + (right if right is not None else "$value")
        value = self.constant(node)
        return value if isinstance(value, str) else None
