"""The public names: few, sorted, each there, each declared once for people, once for type checkers."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import holdfast

SOURCE = Path(holdfast.__file__).read_text(encoding="utf-8")
EAGER = {"__version__"}


def names_for_type_checkers() -> set[str]:
    tree = ast.parse(SOURCE)
    guards = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    imports = [node for guard in guards for node in guard.body if isinstance(node, ast.ImportFrom)]
    return {alias.asname or alias.name for node in imports for alias in node.names if node.module != "typing"}


def test_public_names_are_sorted_and_at_most_25():
    assert holdfast.__all__ == sorted(holdfast.__all__)
    assert len(set(holdfast.__all__)) == len(holdfast.__all__) <= 25


@pytest.mark.parametrize("name", holdfast.__all__)
def test_each_public_name_can_be_imported(name):
    assert getattr(holdfast, name) is not None
    assert name in dir(holdfast)


def test_the_three_lists_of_public_names_agree():
    lazy = set(holdfast._HOME_OF)
    assert lazy | EAGER == set(holdfast.__all__)
    assert names_for_type_checkers() == lazy


def test_an_unknown_name_is_an_attribute_error_that_names_it():
    with pytest.raises(AttributeError, match="no_such_name"):
        holdfast.no_such_name  # noqa: B018 (looking it up is the test)


def test_importing_the_package_imports_nothing_but_its_version():
    code = "import sys; before = set(sys.modules); import holdfast;print(*sorted(set(sys.modules) - before))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.split() == ["holdfast", "holdfast._version"]
