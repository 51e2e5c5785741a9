"""Tools that the user wrote: `tools/*.py` in Holdfast's home (HK3).

Desktop only and off until switched on, because loading a file runs it. Once loaded a tool is like any other: what it
declares is judged, what it does not declare is asked about, and its output is cut.
"""

from holdfast.external_tools.declare import ExternalTool, external_tool
from holdfast.external_tools.load import ExternalTools, Loaded, ToolProblem

__all__ = ["ExternalTool", "ExternalTools", "Loaded", "ToolProblem", "external_tool"]
