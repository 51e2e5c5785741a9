"""Pages as Markdown, hostile ones included."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.runtime.tools.html_text import to_markdown


def markdown(page):
    return to_markdown(page, "https://example.com/docs/page")[1].strip()


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>One</p><p>Two</p>", "One\n\nTwo"),
        ("<h2>Title</h2>text", "## Title\n\ntext"),
        ("a  b\n\n c", "a b c"),
        ("one<br>two", "one\ntwo"),
        ("<a href='/x'>link</a>", "[link](https://example.com/x)"),
        ("<a href='y?z=1'>a <b>b</b></a> c", "[a **b**](https://example.com/docs/y?z=1) c"),
        ("<a href='javascript:alert(1)'>x</a>", "x"),
        ("<a href='#top'>x</a><a>y</a>", "xy"),
        ("<img src=x alt='a cat'>", "[image: a cat]"),
        ("<img src=x>", ""),
        ("<ul><li>a<li>b<ul><li>c</ul></ul>", "- a\n- b\n  - c"),
        ("<ol><li>a</li><li>b</li></ol>", "1. a\n2. b"),
        ("<pre>  x\n    y</pre>", "```\n  x\n    y\n```"),
        ("<p>use <code>x</code></p>", "use `x`"),
        ("<blockquote><p>q</p><p>r</p></blockquote>z", "> q\n\n> r\n\nz"),
        ("<table><tr><th>a<th>b</tr><tr><td>1<td>2|3</table>", "| a | b |\n| --- | --- |\n| 1 | 2\\|3 |"),
        ("<table><tr><td>layout</td></tr></table>", "layout"),
        ("a<hr>b", "a\n\n---\n\nb"),
        ("<script>alert('<p>x</p>')</script>a<style>b{}</style>", "a"),
        ("<head><meta x><title>t</title></head><body>a", "a"),
        ("<!-- <p>hidden</p> -->a<!doctype html>", "a"),
        ("&lt;b&gt; &amp; &nbsp;&#20013;", "<b> &  \u4e2d".replace("  ", " ")),
        ("<svg><text>no</text></svg><noscript>no</noscript>yes", "yes"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ('<p title="a > b">x</p>', "x"),
        ("<P>UP</P>", "UP"),
    ],
)
def test_forms(page, text):
    assert markdown(page) == text


def test_the_title_and_the_main_part_are_found():
    page = "<title> A  B </title><nav>menu</nav><main><p>" + "words " * 60 + "</p></main><footer>foot</footer>"
    title, text = to_markdown(page)
    assert title == "A B"
    assert "menu" not in text
    assert "foot" not in text
    assert to_markdown("<nav>menu</nav><main>short</main>")[1] == "menu\n\nshort\n"


PIECES = (
    "<", ">", "</", "<p", "<pre>", "</pre>", "<td>", "<table>", "</table>", "<li>", "<ul>", "</ul>", "<a href=",
    '"', "'", "x", "<!--", "-->", "<script>", "&", "&#", "<main>", "</main>", "<tr>", "</a>", "<svg>", "</svg>",
    "<blockquote>", "\n", "<head>", "<body>", "<b>", "<textarea>", "<!", "<a x=y>",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_no_page_breaks_it(page):
    title, text = to_markdown(page, "http://example.com/")
    assert isinstance(title, str)
    assert isinstance(text, str)


@pytest.mark.slow
@pytest.mark.parametrize("piece", [*PIECES, "<a", '<a "', '<a href="', "<table><tr><td>", "<tr><td>"])
def test_a_hostile_page_takes_linear_time(piece):
    page = piece * (200_000 // len(piece))
    began = time.monotonic()
    to_markdown(page, "http://example.com/")
    assert time.monotonic() - began < 20
