"""A web page as Markdown: what a reader would read, without scripts, styles and decoration.

The tokenizer is our own because pages are hostile: it looks at every character once, whatever the page does.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urljoin

_ATTRIBUTE = re.compile(r"""([^\s=/>"']+)(?:\s*=\s*("[^"]*"|'[^']*'|[^\s"'>]*))?""")
_TAG_NAME = re.compile(r"/?[a-zA-Z][a-zA-Z0-9:-]*")
_BLANKS = re.compile(r"[ \t\r\n\f\v]+")
_RAW = frozenset(("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"))
_SKIPPED = frozenset(("head", "noscript", "svg", "math", "template", "object", "canvas", "select", "button", "dialog"))
_BLOCKS = frozenset(
    (
        "address", "article", "aside", "body", "dd", "details", "div", "dl", "dt", "fieldset", "figcaption", "figure",
        "footer", "form", "header", "hgroup", "html", "main", "nav", "p", "section", "summary", "table", "tbody",
        "tfoot", "thead", "center", "legend",
    )
)  # fmt: skip
_HEADINGS = {f"h{level}": "#" * level for level in range(1, 7)}
_SAFE_LINK = re.compile(r"(?i)(?:https?:|mailto:|/|\.|#|\?|[^:]*\Z)")
_DEEPEST = 64


@dataclass(frozen=True, slots=True)
class Token:
    kind: str
    """text, start, end or raw."""
    name: str = ""
    text: str = ""
    attributes: str = ""


def tokens(page: str) -> Iterator[Token]:
    """Tags and texts in order."""
    position = 0
    lower = page.lower()
    while position < len(page):
        start = page.find("<", position)
        if start < 0:
            yield Token("text", text=page[position:])
            return
        if start > position:
            yield Token("text", text=page[position:start])
        if page.startswith("<!--", start):
            end = page.find("-->", start + 4)
            position = end + 3 if end >= 0 else len(page)
            continue
        name = _TAG_NAME.match(page, start + 1)
        if name is None:
            declaration = page.startswith(("<!", "<?"), start)
            end = page.find(">", start) if declaration else start
            if not declaration:
                yield Token("text", text="<")
            position = end + 1 if end >= 0 else len(page)
            continue
        end = _tag_end(page, name.end())
        if end < 0:
            yield Token("text", text=page[start:])
            return
        tag = name[0].lower()
        position = end + 1
        if tag.startswith("/"):
            yield Token("end", tag[1:])
            continue
        yield Token("start", tag, attributes=page[name.end() : end])
        if tag in _RAW:
            close = lower.find(f"</{tag}", position)
            stop = close if close >= 0 else len(page)
            yield Token("raw", tag, page[position:stop])
            position = stop


def _tag_end(page: str, start: int) -> int:
    """The `>` that closes a tag; one inside a quoted value does not, unless the quote never ends."""
    end = page.find(">", start)
    for _ in range(4):
        if end < 0 or page.count('"', start, end) % 2 == 0:
            return end
        quote = page.find('"', end)
        further = page.find(">", quote) if quote >= 0 else -1
        if further < 0:
            return end
        end = further
    return end


def attribute(token: Token, name: str) -> str:
    for match in _ATTRIBUTE.finditer(token.attributes[:8192]):
        if match[1].lower() == name:
            value = match[2] or ""
            return html.unescape(value[1:-1] if value[:1] in "\"'" and value else value)
    return ""


@dataclass(slots=True)
class _Writer:
    base: str
    blocks: list[str] = field(default_factory=list)
    line: list[str] = field(default_factory=list)
    title: str = ""
    skipping: list[str] = field(default_factory=list)
    lists: list[int] = field(default_factory=list)
    """Number of the next item; -1 in a list of points."""
    quotes: int = 0
    pre: int = 0
    prefix: str = ""
    links: list[tuple[str, int]] = field(default_factory=list)
    cells: list[str] | None = None
    rows: list[list[str]] = field(default_factory=list)
    main: tuple[int, int] | None = None
    main_start: int = -1

    def take(self, token: Token) -> None:
        if token.kind == "raw":
            if token.name == "title" and not self.title:
                self.title = " ".join(html.unescape(token.text).split())
            elif token.name == "textarea" and not self.skipping:
                self.text(token.text)
        elif self.skipping:
            self._while_skipping(token)
        elif token.kind == "text":
            self.text(token.text)
        elif token.kind == "start":
            self.start(token)
        else:
            self.end(token.name)

    def _while_skipping(self, token: Token) -> None:
        if token.kind == "start" and token.name == self.skipping[-1] and len(self.skipping) < _DEEPEST:
            self.skipping.append(token.name)
        elif token.kind == "end" and token.name == self.skipping[-1]:
            self.skipping.pop()
        elif token.kind == "start" and token.name == "body" and self.skipping[-1] == "head":
            self.skipping.clear()

    def text(self, text: str) -> None:
        plain = html.unescape(text).replace("\xa0", " ")
        if self.pre:
            self.line.append(plain)
            return
        folded = _BLANKS.sub(" ", plain)
        if folded == " " and (not self.line or self.line[-1].endswith((" ", "\n"))):
            return
        self.line.append(folded)

    def start(self, token: Token) -> None:
        name = token.name
        if name in _SKIPPED:
            self.skipping.append(name)
        elif name in _HEADINGS:
            self.flush()
            self.prefix = _HEADINGS[name] + " "
        elif name == "br":
            self.line.append("\n")
        elif name == "hr":
            self.flush()
            self.blocks.append("---")
        elif name == "img":
            self._image(token)
        elif name == "a":
            self.links.append((attribute(token, "href"), len(self.line)))
        elif name in ("strong", "b"):
            self.line.append("**")
        elif name in ("em", "i"):
            self.line.append("*")
        elif name == "code" and not self.pre:
            self.line.append("`")
        elif name == "pre":
            self.flush()
            self.pre += 1
        elif name in ("ul", "ol"):
            self.flush()
            if len(self.lists) < _DEEPEST:
                self.lists.append(1 if name == "ol" else -1)
        elif name == "li":
            self._item()
        elif name == "blockquote":
            self.flush()
            self.quotes = min(self.quotes + 1, 8)
        elif name in ("td", "th"):
            self._cell_ends()
            self.cells = self.cells if self.cells is not None else []
        elif name == "tr":
            self._row_ends()
            self.flush()
            self.cells = []
        elif name in _BLOCKS:
            self.flush()
            if name == "main" and self.main_start < 0:
                self.main_start = len(self.blocks)

    def end(self, name: str) -> None:
        if name == "a" and self.links:
            self._link(*self.links.pop())
        elif name in ("strong", "b"):
            self.line.append("**")
        elif name in ("em", "i"):
            self.line.append("*")
        elif name == "code" and not self.pre:
            self.line.append("`")
        elif name == "pre" and self.pre:
            self.pre -= 1
            if not self.pre:
                self._code_block()
        elif name in ("ul", "ol"):
            self.flush()
            if self.lists:
                self.lists.pop()
        elif name == "blockquote":
            self.flush()
            self.quotes = max(0, self.quotes - 1)
        elif name in ("td", "th"):
            self._cell_ends()
        elif name in ("tr", "table"):
            self._row_ends()
            if name == "table":
                self._table()
        elif name in _HEADINGS or name == "li" or name in _BLOCKS:
            self.flush()
            if name == "main" and self.main_start >= 0 and self.main is None:
                self.main = (self.main_start, len(self.blocks))

    def flush(self) -> None:
        """A paragraph, heading or item is over."""
        if self.cells is not None:
            return  # a cell may hold blocks; in Markdown it is one line
        self.links.clear()
        text = _tidied("".join(self.line)) if not self.pre else "".join(self.line)
        self.line.clear()
        prefix, self.prefix = self.prefix, ""
        if not text.strip():
            return
        indent = " " * len(prefix) if prefix.lstrip().startswith(("-", "1", "2", "3")) else ""
        body = text.strip("\n").strip() if not self.pre else text.strip("\n")
        lines = body.split("\n")
        self._block("\n".join([f"{prefix}{lines[0]}", *(f"{indent}{line}" for line in lines[1:])]))

    def _block(self, text: str) -> None:
        mark = "> " * self.quotes
        self.blocks.append("\n".join(f"{mark}{line}" for line in text.split("\n")) if mark else text)

    def _item(self) -> None:
        self.flush()
        depth = max(0, len(self.lists) - 1)
        number = self.lists[-1] if self.lists else -1
        if number > 0:
            self.lists[-1] += 1
        self.prefix = "  " * depth + (f"{number}. " if number > 0 else "- ")

    def _image(self, token: Token) -> None:
        words = " ".join(attribute(token, "alt").split())
        if words:
            self.line.append(f"[image: {words}]")

    def _link(self, href: str, start: int) -> None:
        words = "".join(self.line[start:])
        if not words.strip() or not href or href.startswith("#") or not _SAFE_LINK.match(href):
            return
        try:
            address = urljoin(self.base, href.strip())
        except ValueError:
            return
        lead = " " if words.startswith(" ") else ""
        tail = " " if words.endswith(" ") else ""
        inner = " ".join(words.split()).replace("]", "\\]")
        shown = address.replace(" ", "%20").replace(")", "%29")
        self.line[start:] = [f"{lead}[{inner}]({shown}){tail}"]

    def _code_block(self) -> None:
        text = "".join(self.line).strip("\n")
        self.line.clear()
        if text.strip():
            fence = "```" if "```" not in text else "~~~~"
            self._block(f"{fence}\n{text}\n{fence}")

    def _cell_ends(self) -> None:
        if self.cells is not None and self.line:
            self.cells.append(" ".join(_tidied("".join(self.line)).split()).replace("|", "\\|"))
        if self.cells is not None:
            self.line.clear()
            self.links.clear()

    def _row_ends(self) -> None:
        self._cell_ends()
        if self.cells:
            self.rows.append(self.cells)
        self.cells = None

    def _table(self) -> None:
        rows, self.rows = self.rows, []
        if not rows:
            return
        width = max(len(row) for row in rows)
        if width == 1:  # laid out with a table: paragraphs
            for row in rows:
                if row[0].strip():
                    self._block(row[0])
            return
        filled = [row + [""] * (width - len(row)) for row in rows]
        lines = [f"| {' | '.join(row)} |" for row in filled]
        self._block("\n".join([lines[0], "|" + " --- |" * width, *lines[1:]]))


def _tidied(text: str) -> str:
    lines = [re.sub(r" {2,}", " ", line).strip() for line in text.replace("****", "").replace("``", "").split("\n")]
    return "\n".join(lines)


def to_markdown(page: str, base: str = "") -> tuple[str, str]:
    """Title and text. When the page marks its main part and there is something in it, only that is taken."""
    writer = _Writer(base)
    for token in tokens(page):
        writer.take(token)
    writer._row_ends()
    writer._table()
    writer.flush()
    blocks = writer.blocks
    if writer.main is not None and sum(map(len, blocks[slice(*writer.main)])) >= 200:
        blocks = blocks[slice(*writer.main)]
    text = _joined(blocks)
    return writer.title, text


def _joined(blocks: list[str]) -> str:
    """Paragraphs apart, items of a list together."""
    out: list[str] = []
    for block in blocks:
        item = re.match(r"\s*(?:- |\d+\. )", block) is not None
        if out:
            together = item and re.match(r"\s*(?:- |\d+\. )", out[-1]) is not None
            out.append("\n" if together else "\n\n")
        out.append(block)
    return re.sub(r"\n{3,}", "\n\n", "".join(out)).strip() + "\n" if out else ""
