"""Names of files made from ids that somebody else chose."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.store.file_names import file_name

any_text = st.text(st.characters(exclude_categories=[]), max_size=300)


@pytest.mark.parametrize("plain", ["0190a-7c", "ses_6F8aXyz", "a.b", "x", "A" * 200])
def test_AU2_harmless_ids_stay_as_they_are(plain):
    assert file_name(plain, folds_case=False) == plain


@pytest.mark.parametrize(
    "hostile", ["", ".", "..", "../../etc/passwd", "/etc/passwd", "a/b", "a\\b", "-rf", ".hidden", "a\x00b", "~", "C:x"]
)
def test_AU2_no_id_leaves_the_directory(hostile, tmp_path):
    path = tmp_path / (file_name(hostile) + ".jsonl")
    path.write_text("x")
    assert path.parent == tmp_path
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
    assert not path.name.startswith((".", "-"))


@given(any_text, st.booleans())
def test_AU2_names_are_short_plain_and_stay_inside(text, folds_case):
    name = file_name(text, folds_case=folds_case)
    assert 0 < len(name) <= 200
    assert Path("/d", name).parent == Path("/d")
    assert all(char.isascii() and (char.isalnum() or char in "._-%~") for char in name)
    assert not folds_case or name == name.lower()


@given(any_text, any_text, st.booleans(), st.sampled_from([60, 200]))
def test_AU2_two_ids_never_share_a_name(one, other, folds_case, longest):
    names = [file_name(text, folds_case=folds_case, longest=longest) for text in (one, other)]
    assert (names[0] == names[1]) == (one == other)


@given(st.text("ab%~.-", min_size=1, max_size=8), st.text("ab%~.-", min_size=1, max_size=8))
def test_AU2_encoded_and_literal_forms_do_not_meet(one, other):
    assert (file_name(one) == file_name(other)) == (one == other)
