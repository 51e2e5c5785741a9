"""Bytes as text and back, without losing any: encodings, line ends, and what is no text at all."""

from __future__ import annotations

import codecs
import struct
from dataclasses import dataclass

_SNIFFED = 8192
_CONTROLS = bytes(set(range(32)) - {7, 8, 9, 10, 12, 13, 27})
_BOMS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class Text:
    """A file's text with line feeds only, and what is needed to write it back as it was."""

    content: str
    encoding: str = "utf-8"
    bom: bytes = b""
    crlf: bool = False
    """Every line ended with CR LF."""

    def encoded(self, content: str) -> bytes:
        """Another content in the same clothes."""
        text = content.replace("\n", "\r\n") if self.crlf else content
        errors = "surrogateescape" if self.encoding == "utf-8" else "surrogatepass"
        return self.bom + text.encode(self.encoding, errors)


def decode(data: bytes) -> Text:
    """Bytes that are no UTF-8 are kept as lone surrogates, so that an edit elsewhere leaves them alone."""
    bom, encoding = next(((bom, name) for bom, name in _BOMS if data.startswith(bom)), (b"", "utf-8"))
    body = data[len(bom) :]
    errors = "surrogateescape" if encoding == "utf-8" else "surrogatepass"
    try:
        content = body.decode(encoding, errors)
    except UnicodeDecodeError:  # half a UTF-16 character: as bytes then
        bom, encoding, content = b"", "utf-8", data.decode("utf-8", "surrogateescape")
    feeds = content.count("\n")
    crlf = feeds > 0 and content.count("\r\n") == feeds
    return Text(content.replace("\r\n", "\n") if crlf else content, encoding, bom, crlf)


def shown(text: str) -> str:
    """Text that may hold bytes of another encoding, fit to be sent."""
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text


def is_binary(data: bytes) -> bool:
    """Whether the beginning of a file looks like no text."""
    start = data[:_SNIFFED]
    if any(start.startswith(bom) for bom, _ in _BOMS):
        return False
    if b"\0" in start:
        return True
    controls = len(start) - len(start.translate(None, _CONTROLS))
    return controls * 10 > len(start)


def kind_of(data: bytes) -> str:
    """What a binary file is, by its first bytes: `PNG image, 640 x 480`; empty when unknown."""
    for magic, name in _KINDS:
        if data.startswith(magic):
            size = _image_size(data, name)
            return f"{name}, {size[0]} x {size[1]}" if size else name
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WebP image"
    if data[4:8] == b"ftyp":
        return "AVIF or HEIC image" if data[8:12] in (b"avif", b"heic", b"mif1", b"heix") else "MP4 video"
    return ""


_KINDS: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "PNG image"),
    (b"\xff\xd8\xff", "JPEG image"),
    (b"GIF87a", "GIF image"),
    (b"GIF89a", "GIF image"),
    (b"BM", "BMP image"),
    (b"II*\0", "TIFF image"),
    (b"MM\0*", "TIFF image"),
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "ZIP archive (or an office document)"),
    (b"\x1f\x8b", "gzip archive"),
    (b"BZh", "bzip2 archive"),
    (b"\xfd7zXZ\0", "xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip archive"),
    (b"\x7fELF", "ELF program or library"),
    (b"MZ", "Windows program"),
    (b"\xcf\xfa\xed\xfe", "macOS program"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"\0asm", "WebAssembly module"),
    (b"OggS", "Ogg audio"),
    (b"ID3", "MP3 audio"),
)


def _image_size(data: bytes, name: str) -> tuple[int, int] | None:
    if name == "PNG image" and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return width, height
    if name == "GIF image" and len(data) >= 10:
        width, height = struct.unpack("<HH", data[6:10])
        return width, height
    if name == "JPEG image":
        return _jpeg_size(data)
    return None


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    position = 2
    while position + 9 <= len(data) and data[position] == 0xFF:
        marker = data[position + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[position + 5 : position + 9])
            return width, height
        position += 2 + int(struct.unpack(">H", data[position + 2 : position + 4])[0])
    return None
