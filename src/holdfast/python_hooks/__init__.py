"""Hooks that the user wrote in Python: `hooks/*.py` in Holdfast's home (HK4).

They run in a process of their own. A thread that hangs cannot be ended, and every tool call passes here; a process can
be killed at its deadline, and whatever a hook breaks (its memory, `sys.exit`, a crash) stays its own.
"""

from holdfast.python_hooks.hooks import HookProblem, PythonHooks

__all__ = ["HookProblem", "PythonHooks"]
