"""Hypothesis strategies: the same value written in the many ways in which people write JSONC."""

import json

from hypothesis import strategies as st

NEWLINES = ("\n", "\r\n", "\r")


@st.composite
def trivia(draw, newline):
    """White space and comments, as may stand between any two tokens."""
    pieces = [
        "", "", " ", "  ", "\t", newline, newline + "  ", newline + "\t", newline * 2 + "    ",
        f" // remark, with [brackets] and \"quotes\"{newline}", f"//{newline}  ", "/* note */", " /* a, b */ ",
        f"{newline}  /* long{newline}     note */{newline}  ", f"// 注释{newline}",
    ]  # fmt: skip
    return "".join(draw(st.lists(st.sampled_from(pieces), max_size=2)))


@st.composite
def written(draw, value, newline):
    """`value` as a text that reads back to it, with trivia everywhere."""

    def gap():
        return draw(trivia(newline))

    def text_of(part):
        if isinstance(part, dict):
            entries = [f"{key_of(key)}{gap()}:{gap()}{text_of(inner)}" for key, inner in part.items()]
            return joined("{", entries, "}")
        if isinstance(part, list):
            return joined("[", [text_of(inner) for inner in part], "]")
        text = json.dumps(part, ensure_ascii=draw(st.booleans()))
        if isinstance(part, str) and draw(st.booleans()):
            return "'" + text[1:-1].replace("'", "\\'") + "'"
        return text

    def key_of(key):
        return key if key.isidentifier() and draw(st.booleans()) else json.dumps(key)

    def joined(opening, entries, closing):
        text = opening
        for index, entry in enumerate(entries):
            comma = "," if index < len(entries) - 1 or draw(st.booleans()) else ""
            text += gap() + entry + gap() + comma
        return text + gap() + closing

    bom = "\ufeff" if draw(st.integers(0, 9)) == 0 else ""
    return bom + gap() + text_of(value) + gap()


texts = st.text(alphabet="ab \"'\\/*,:[]{}\n\r\t\0中\u2028\ufeff\U0001f600", max_size=6)
newlines = st.sampled_from(NEWLINES)
scalars = st.one_of(st.none(), st.booleans(), st.integers(-(10**6), 10**6), texts, st.floats(-10, 10, allow_nan=False))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(texts, inner, max_size=2)),
    max_leaves=5,
)
rules = st.fixed_dictionaries(
    {
        "domain": st.sampled_from(["read", "bash", "mcp"]),
        "pattern": texts.filter(bool),
        "decision": st.sampled_from(["allow", "ask", "deny"]),
    }
)


@st.composite
def documents(draw):
    """A value with `agents.runtime.permission.rules` in it, or only a part of that path, among other things."""
    others = st.dictionaries(st.sampled_from(["a", "b-c", "键", "x y"]), values, max_size=1)
    value = draw(st.lists(rules, max_size=3))
    for key in ("rules", "permission", "runtime", "agents"):
        holder = {key: value} if draw(st.integers(0, 5)) else {}
        members = list((draw(others) | holder).items())
        value = dict(draw(st.permutations(members)))
    return value
