"""SC6: how search sees a text, and that everything in it can be found."""

import re
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.store.search_query import read_query
from holdfast.store.search_scan import ScanText, matches
from holdfast.store.search_stems import stem_of
from holdfast.store.search_text import analyse, tokens
from holdfast.store.search_words import MOST_REMEMBERED, identifier_parts, looks_random


@pytest.mark.parametrize(
    ("text", "words", "parts"),
    [
        ("getUser(id)", "getuser id", "get user +get+user"),
        ("SessionManager.run()", "sessionmanager run", "session manager +session+manager +manager+run"),
        ("src/holdfast/search.py:12", "src holdfast search py 12", ""),
        ("src/searchIndex.py", "src searchindex py", "search index +src+search +search+index +index+py"),
        ("MAX_RETRY_COUNT", "max_retry_count", "max retry count +max+retry +retry+count"),
        ("__init__", "__init__", "init"),
        ("parseHTTPResponse2", "parsehttpresponse2", "parse http response 2 +parse+http +http+response +response+2"),
        ("all URLs", "all urls", ""),
        ("会话链", "会话 话链 链", ""),
        ("用 foo 搜索", "用 foo 搜索 索", ""),
        ("セッション", "セッ ッシ ショ ョン ン", ""),
        ("세션 관리", "세션 션 관리 리", ""),
        ("Café STRASSE straße", "cafe strasse strasse", ""),
        ("cafe\u0301", "cafe", ""),
        ("ＡＢＣ１２３", "abc123", "abc 123 +abc+123"),
        ("don't", "don t", ""),
        ("commit 3f2a9c7e9b", "commit 3f2a9c7e9b", ""),
        ("a._.getUser", "a _ getuser", "get user +a+get +get+user"),
        ("_ __", "_ __", ""),
        ("getUser...runAll", "getuser runall", "get user run all +get+user +run+all"),
        ("错误getUser", "错误 误 getuser", "get user +错误+误 +误+get +get+user"),
        ("…!? — 🙂", "", ""),
        ("", "", ""),
    ],
)
def test_SC6_words_and_parts(text, words, parts):
    analysed = analyse(text)
    assert (analysed.words, sorted(analysed.parts.split())) == (words, sorted(parts.split()))


def test_SC6_a_word_after_an_escaped_line_break_is_found():
    assert "import" in analyse(r'{"content": "x = 1\nimport os"}').parts.split()


@pytest.mark.parametrize(
    ("piece", "random"),
    [
        ("3f2a9c7e9b", True),
        ("a1b2", True),
        ("9c1f", True),
        ("01AbC2d3E4f5G6h7I8", True),
        ("utf8", False),
        ("sha256", False),
        ("deadbeef", False),
        ("SessionManager2", False),
        ("base64url", False),
        ("x86", False),
    ],
)
def test_SC6_hashes_stay_whole(piece, random):
    assert looks_random(piece) is random
    assert (identifier_parts(piece) == [piece.lower()]) is (random or (piece.isalpha() and piece.islower()))


@pytest.mark.parametrize(
    ("words", "stem"),
    [
        (["adopt", "adopts", "adopted", "adopting", "adoption"], "adopt"),
        (["go", "goes", "went", "gone", "going"], "go"),
        (["buy", "bought", "buying"], "buy"),
        (["child", "children"], "child"),
        (["the", "what", "didn"], ""),
        (["2023"], "2023"),
        (["3f2a9c7e"], ""),
    ],
)
def test_SC6_stems(words, stem):
    assert {stem_of(word) for word in words} == {stem}


ALPHABETS = st.sampled_from(
    [
        "abcXYZ019_",
        "abAB01_.-/: \n",
        "会话链接系统",
        "セッション한국어会",
        "äöüßÉé aB",
        "अनुवाद हिन्दी",
        "ab12会 ,。\\\"'(){}=*",
    ]
)
TEXTS = ALPHABETS.flatmap(lambda alphabet: st.text(st.sampled_from(alphabet), max_size=60)) | st.text(max_size=40)


def finds(query, text):
    return matches(read_query(query).node, ScanText.of(text))


@given(TEXTS)
def test_SC6_a_text_is_found_by_each_of_its_words(text):
    for token in tokens(unicodedata.normalize("NFC", text)):
        word = unicodedata.normalize("NFC", text)[token.start : token.end]
        assert finds(word, text)
        assert finds(word.lower(), text)
        assert finds(f'"{word}"', text)
        assert finds(f"{word[:3]}*", text)


@given(TEXTS)
def test_SC6_a_text_is_found_by_each_part_of_its_identifiers(text):
    for token in tokens(unicodedata.normalize("NFC", text)):
        if not token.dense:
            for low in range(len(token.parts)):
                for high in range(low + 1, len(token.parts) + 1):
                    assert finds("_".join(token.parts[low:high]), text)


@given(st.text(st.sampled_from("getHTTPUserNameIDs2x_URLaZ09"), min_size=1, max_size=24))
def test_SC6_parts_are_found_as_they_are_written(name):
    """`SessionManager` finds `getSessionManager`: the part keeps its capitals, and stands at any border."""
    border = "[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"
    pieces = re.findall(border, name)
    if any(looks_random(part) for part in name.split("_")):
        return
    for low in range(len(pieces)):
        for high in range(low + 1, len(pieces) + 1):
            assert finds("_".join(pieces[low:high]), f"call {name}(x)")


NAMES = st.lists(
    st.sampled_from(["self", "getUser", "HTTPServer", "x", "run_all", "v2", "Args", "URLs", "_", "src", "42"]),
    min_size=2,
    max_size=5,
)


@given(NAMES, st.sampled_from([".", "/", "->", "::", ":", "-"]), st.sampled_from(["", "会", "é "]))
def test_SC6_a_run_is_found_from_any_border_to_any_other(names, joint, before):
    """`user.runAll` finds `getUser.runAll()`, whatever else stands in the text."""
    run = joint.join(names)
    pieces = list(re.finditer("[A-Z]{2,}s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", run))
    for low in range(len(pieces)):
        for high in range(low, len(pieces)):
            assert finds(run[pieces[low].start() : pieces[high].end()], f"{before}{run}() done")


@pytest.mark.slow
def test_SC6_a_full_memory_of_words_loses_nothing():
    """Threads share one, and it begins anew when it is full, perhaps in the middle of a text."""
    letters = "bcdfghjklmnpqrst"
    names = [f"{a}a{b}X{c}o{d}" for a in letters for b in letters for c in letters for d in letters[:10]]
    texts = [" ".join([*names[low : low + 64], f"getUser.{letters[low % 16]}Call"]) for low in range(0, len(names), 64)]
    assert len(names) * 4 > MOST_REMEMBERED
    for turn in range(4):
        with ThreadPoolExecutor(4) as threads:
            found = threads.map(analyse, [text.replace("X", "XYZW"[turn]) for text in texts])
        for number, analysed in enumerate(found):
            parts = analysed.parts.split()
            assert len(parts) == 64 * 3 + 3 + 3 + 1
            assert f"+user+{letters[number * 64 % 16]}" in parts


@given(st.text(st.sampled_from("会话链接系统搜索的错误，。 x1"), max_size=30))
def test_SC6_chinese_is_found_by_every_two_characters_and_more(text):
    for run in re.findall("[\u4e00-\u9fff]+", text):
        for low in range(len(run)):
            for high in range(low + 1, len(run) + 1):
                assert finds(run[low:high], text)


@given(
    st.text(st.sampled_from("会话链接"), min_size=2, max_size=4), st.text(st.sampled_from("会话链接，x "), max_size=14)
)
def test_SC6_chinese_is_found_exactly(query, text):
    assert finds(query, text) == (query in text)


@given(TEXTS, st.integers(0, 20), st.integers(1, 40))
def test_SC6_a_phrase_is_found_between_any_two_words(text, start, length):
    text = unicodedata.normalize("NFC", text)
    found = [token for token in tokens(text) if not token.dense]
    part = found[start : start + length]
    if part:
        piece = text[part[0].start : part[-1].end].replace('"', "'")
        assert finds(f'"{piece}"', text.replace('"', "'"))


@given(st.text())
def test_SC6_any_text_can_be_analysed(text):
    words, parts, stems = analyse(text.encode("utf-8", "replace").decode())
    for layout in (words, parts, stems):
        assert layout == " ".join(layout.split(" "))
        assert not re.search(r"[\t\n\r\f ]{2,}|^[ ]|[ ]$", layout)


ASCII = st.sampled_from(["abcXYZ019_", "abAB01_.-/: \n", "aB._-:>#@/\\ x", "\x00\x01aB. \\n", "0123456789abcdef -"])


@example("1" * 150)
@example("getUser." + "x" * 150)
@given(ASCII.flatmap(lambda alphabet: st.text(st.sampled_from(alphabet), max_size=250)))
def test_SC6_the_quick_way_for_plain_text_sees_what_the_general_way_sees(text):
    """A character that is not ASCII makes the whole text go the general way."""
    quick, general = analyse(text), analyse(f"{text} 会")
    assert f"{quick.words} 会".strip() == general.words
    assert sorted(quick.parts.split()) == sorted(general.parts.split())
    assert f"{quick.stems} 会".strip() == general.stems


@given(st.text(st.sampled_from("aB.’–→─ \u00a0x1_")))
def test_SC6_typographical_signs_only_separate(text):
    plain = "".join(sign if sign.isascii() else " " for sign in text)
    assert analyse(text) == analyse(plain)
