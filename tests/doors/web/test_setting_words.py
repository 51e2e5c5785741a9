"""The page explains every setting in Chinese too."""

import re
from pathlib import Path

from holdfast.core.decode import encode
from holdfast.core.setting_keys import RULES, leaves, short_key
from holdfast.core.settings import DEFAULTS, Settings

WORDS = Path(__file__).resolve().parents[3] / "web" / "src" / "screens" / "settings" / "docs.ts"
ELSEWHERE = {short_key(RULES), "breeds"}


def test_HK1_the_page_explains_exactly_the_settings_there_are():
    table = WORDS.read_text(encoding="utf-8").split("= {")[1].split("\n}")[0]
    known = set(re.findall(r"^  '?([\w.$]+)'?: '", table, re.MULTILINE))
    wanted = {short_key(path) for path, _, _ in leaves(Settings, encode(DEFAULTS))} - ELSEWHERE
    assert known == wanted
