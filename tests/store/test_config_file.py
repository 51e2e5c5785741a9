"""Loading: examples that must load unchanged, layers and origins, and errors that name their place."""

from pathlib import Path

import pytest

from holdfast.core.setting_keys import RULES, parse_key
from holdfast.core.settings import DEFAULTS
from holdfast.store.config_file import ConfigError, Inline, load_config, load_text

EXAMPLES = Path(__file__).parent / "config_examples"
NOTHING_INLINE = Inline(environ={})


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "config.jsonc"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def lines_of(error: ConfigError, path: Path) -> list[str]:
    return [str(problem).removeprefix(f"{path}:") for problem in error.problems]


def problems_in(folder: Path, text: str | bytes) -> list[str]:
    path = write(folder, text)
    before = path.read_bytes()
    with pytest.raises(ConfigError) as caught:
        load_config(path, NOTHING_INLINE)
    assert path.read_bytes() == before
    return lines_of(caught.value, path)


def runtime(inner: str) -> str:
    return '{"agents": {"runtime": {\n' + inner + "\n}}}"


def rules(*lines: str) -> str:
    return runtime('"permission": {"rules": [\n' + ",\n".join(lines) + "\n]}")


# -- the published examples


def test_HK1_the_adrs_default_structure_loads_unchanged():
    config = load_config(EXAMPLES / "adr_g.jsonc", NOTHING_INLINE)
    runtime = config.settings.runtime
    assert runtime.agent.id == "writer"
    assert runtime.truncation.max_bytes == 51200
    assert runtime.hooks.tool.after[0].append_text == "\\n[read completed]"
    assert runtime.hooks.chat.params is not None
    assert runtime.hooks.chat.params.given() == {"temperature": 0.2, "max_tokens": 2048}
    assert [(rule.domain, rule.pattern, rule.decision, rule.line) for rule in config.rules] == [
        ("read", "vault:**/*.md", "allow", 22),
        ("read", "fs:**/*.env*", "ask", 23),
        ("bash", "*", "ask", 24),
    ]


def test_HK1_the_adrs_example_of_hooks_loads_unchanged():
    runtime = load_config(EXAMPLES / "adr_p2_7.jsonc", NOTHING_INLINE).settings.runtime
    assert runtime.tools.external.enabled
    assert runtime.hooks.tool.before[0].merge_input == {"encoding": "utf-8"}


def test_SC9_the_breeds_example_loads_unchanged():
    ragdoll, maine_coon = load_config(EXAMPLES / "breeds.jsonc", NOTHING_INLINE).settings.breeds
    assert (ragdoll.id, ragdoll.features.session_strategy.strategy) == ("ragdoll", "hybrid")
    assert ragdoll.features.session_strategy.thresholds.warn == 0.80
    assert maine_coon.features.session_strategy.strategy == "compress"


def test_without_a_file_the_defaults_hold(tmp_path):
    config = load_config(tmp_path / "config.jsonc", NOTHING_INLINE)
    assert config.settings == DEFAULTS
    assert config.rules == ()


# -- errors


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{\n  "agents": {\n    "runtime": ,\n  }\n}', "3:16: agents.runtime: expected a value, found ','"),
        ('{\n  "breeds": [],\n  "breeds": []\n}', "3:3: breeds: expected each key once, but 'breeds' stands on line 2"),
        ('{"breeds": [] "x": 1}', "1:15: expected `,` or `}`, found '\"'"),
        ('{"a": nope}', "1:7: a: expected a value (text stands in quotes), found 'nope'"),
        ('{"a": "x\n"}', '1:7: a: expected a closing ", found the end of the line'),
        ("{ /* for ever", "1:3: expected `*/`, found the end of the file"),
        ("", "1:1: expected a value, found the end of the file"),
        ("[]", "1:1: expected an object in { }, found something else"),
        ('{"a": 1e999}', "1:7: a: expected a finite number, found '1e999'"),
        ("{}\n{}", "2:1: expected the end of the file, found '{'"),
    ],
)
def test_HK1_broken_syntax_names_line_column_key_and_what_was_expected(tmp_path, text, expected):
    (problem,) = problems_in(tmp_path, text)
    assert problem.startswith(expected)


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        ('"truncation": {\n  "maxLine": 5}', "3:3: truncation.maxLine: unknown key 'maxLine'; did you mean"),
        ('"truncation": {"maxLines": "5"}', "2:28: truncation.maxLines: expected a whole number, got '5'"),
        ('"truncation": {"maxLines": true}', "2:28: truncation.maxLines: expected a whole number, got true"),
        ('"truncation": {"maxLines": 0}', "2:28: truncation.maxLines: must be at least 1, got 0"),
        ('"mode": {"default": "root"}', "2:21: mode.default: expected one of 'agent', 'full_access', got 'root'"),
        ('"permission": {"rules": {}}', "2:25: permission.rules: expected a list, each item an object, got an object"),
        ('"permission": {"rules": [\n{"domain": "read"}]}', "3:1: permission.rules[0]: 'pattern' is missing"),
        ('"models": {"gpt-4.1": {"api": 1}}', "2:31: models[\"gpt-4.1\"].api: expected one of"),
    ],
)  # fmt: skip
def test_HK1_wrong_keys_and_types_name_line_column_and_key(tmp_path, inner, expected):
    assert problems_in(tmp_path, runtime(inner))[0].replace("agents.runtime.", "").startswith(expected)


def test_HK1_every_problem_is_named_at_once(tmp_path):
    found = problems_in(tmp_path, runtime('"truncation": {"maxLines": 0, "x": 1},\n"languag": "en"'))
    assert [problem.partition(":")[0] for problem in found] == ["2", "2", "3"]


def test_columns_count_characters_and_windows_line_ends_count_once(tmp_path):
    (problem,) = problems_in(tmp_path, '{\r\n  // 说明\r\n  "$schema": "说", "x": 1\r\n}')
    assert problem.startswith("3:19: x: unknown key 'x'")


def test_bytes_that_are_no_text_are_named(tmp_path):
    assert problems_in(tmp_path, b'{\n "a": "\xff"}') == ["2:8: expected UTF-8, found byte 0xff"]
    (problem,) = problems_in(tmp_path, "{}".encode("utf-16"))
    assert "save the file as UTF-8" in problem


def test_a_byte_order_mark_is_read_over(tmp_path):
    assert load_config(write(tmp_path, b"\xef\xbb\xbf{}"), NOTHING_INLINE).settings == DEFAULTS


def test_a_link_to_nowhere_is_an_error_and_not_an_empty_configuration(tmp_path):
    path = tmp_path / "config.jsonc"
    path.symlink_to(tmp_path / "gone.jsonc")
    with pytest.raises(ConfigError, match="which is not there"):
        load_config(path, NOTHING_INLINE)


def test_a_folder_in_place_of_the_file_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path, NOTHING_INLINE)


# -- rules


@pytest.mark.parametrize(
    ("pattern", "operator", "way_out"),
    [
        ("regex:a(?=b)", "lookaround '(?='", "the last rule that matches decides"),
        ("regex:(?<!x)y", "lookaround '(?<!'", "exception"),
        (r"regex:(a)\\1", r"backreference '\\1'", "alternatives"),
        ("regex:a{1,5000}", "repetition '{1,5000}'", "1000"),
        ("regex:(?>a)", "atomic", "leave it out"),
        ("regex:(a", "missing )", ""),
    ],
)
def test_PE3_an_expression_that_RE2_refuses_is_an_error_with_its_way_out(tmp_path, pattern, operator, way_out):
    ok = '{"domain": "bash", "pattern": "git *", "decision": "allow"}'
    bad = f'{{"domain": "bash", "pattern": "{pattern}", "decision": "deny"}}'
    (problem,) = problems_in(tmp_path, rules(ok, bad))
    assert problem.startswith("4:31: agents.runtime.permission.rules[1].pattern: ")
    assert operator in problem
    assert way_out in problem


def test_PE3_a_scheme_of_another_domain_is_an_error(tmp_path):
    (problem,) = problems_in(tmp_path, rules('{"domain": "read", "pattern": "shell:ls", "decision": "allow"}'))
    assert problem.startswith("3:31: agents.runtime.permission.rules[0].pattern: pattern 'shell:ls' can never match")
    assert "vault:, fs:" in problem


def test_PE3_an_empty_pattern_is_an_error(tmp_path):
    (problem,) = problems_in(tmp_path, rules('{"domain": "read", "pattern": "", "decision": "deny"}'))
    assert "expected a pattern" in problem


@pytest.mark.parametrize("pattern", ["vault:**/[z-a]*", "vault:/{a,b}/**", "vault:/[", "vault:/{", "[!a-c]*"])
def test_PE3_globs_never_fail_in_RE2(tmp_path, pattern):
    text = rules(f'{{"domain": "read", "pattern": "{pattern}", "decision": "ask"}}')
    assert len(load_config(write(tmp_path, text), NOTHING_INLINE).rules) == 1


# -- layers


def test_HK1_inline_wins_over_the_file_and_each_value_knows_its_origin(tmp_path):
    path = write(tmp_path, runtime('"truncation": {"maxLines": 10,\n"maxBytes": 100},\n"model": "a"'))
    config = load_config(
        path,
        Inline(
            environ={
                "HOLDFAST_CONFIG_INLINE": "{agents: {runtime: {truncation: {maxLines: 20}}}}",
                "MEMORY_BANK_GUARD_MODE": "block",
            },
            mapping={"agents": {"runtime": {"language": "zh"}}},
            assignments=["truncation.ttlDays=1", "model=gpt-4o"],
        ),
    )
    truncation = config.settings.runtime.truncation
    assert (truncation.max_lines, truncation.max_bytes, truncation.ttl_days) == (20, 100, 1)
    assert config.settings.runtime.memory.guard_mode == "block"
    expected = {
        "truncation.maxLines": "environment variable HOLDFAST_CONFIG_INLINE:1",
        "truncation.maxBytes": ":3",
        "truncation.ttlDays": "--set truncation.ttlDays=1",
        "memory.guardMode": "environment variable MEMORY_BANK_GUARD_MODE",
        "language": "inline",
        "profile": "default",
        "model": "--set model=gpt-4o",
    }
    assert {key: str(config.origin(parse_key(key))).removeprefix(str(path)) for key in expected} == expected


def test_PE3_rules_of_a_later_layer_stand_behind_the_earlier_ones(tmp_path):
    path = write(tmp_path, rules('{"domain": "bash", "pattern": "a", "decision": "allow"}'))
    deny = {"domain": "bash", "pattern": "b", "decision": "deny"}
    mapping = {"agents": {"runtime": {"permission": {"rules": [deny]}}}}
    config = load_config(path, Inline(environ={}, mapping=mapping))
    assert [(rule.pattern, rule.source, rule.line) for rule in config.rules] == [
        ("a", str(path), 3),
        ("b", "inline", None),
    ]
    assert len(config.settings.runtime.permission.rules) == 2
    assert [str(config.origin((*RULES, index))) for index in (0, 1)] == [f"{path}:3", "inline"]


def test_every_setting_is_listed_once_with_its_origin(tmp_path):
    config = load_config(write(tmp_path, runtime('"mcp": {"x": {"command": "y"}}')), NOTHING_INLINE)
    listed = [(path, str(origin)) for path, _, origin in config.origins()]
    assert len({path for path, _ in listed}) == len(listed)
    assert (parse_key("mcp.x.command"), f"{config.path}:2") in listed
    assert (parse_key("mcp.x.url"), "default") in listed


@pytest.mark.parametrize(
    ("inline", "expected"),
    [
        (Inline({"MEMORY_BANK_GUARD_MODE": "blok"}), "environment variable MEMORY_BANK_GUARD_MODE: "),
        (Inline({"HOLDFAST_CONFIG_INLINE": "{"}), "environment variable HOLDFAST_CONFIG_INLINE:1:2: expected a key"),
        (Inline({}, assignments=["truncation.maxLines"]), "--set truncation.maxLines: expected key=value"),
        (Inline({}, assignments=["truncation.maxLine=3"]), "--set truncation.maxLine=3: no setting is called"),
        (Inline({}, assignments=["truncation.maxLines=x"]), "--set truncation.maxLines=x: expected a value"),
        (Inline({}, assignments=["permission.rules[0].decision=deny"]), "--set permission.rules[0]"),
        (Inline({}, mapping={"agents": {"x": 1}}), "inline: agents.x: unknown key 'x'"),
    ],
)  # fmt: skip
def test_HK1_a_broken_inline_value_names_its_source(tmp_path, inline, expected):
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path / "config.jsonc", inline)
    assert str(caught.value).startswith(expected)


def test_HK1_thousands_of_problems_are_told_in_both_languages():
    rules = ",".join('{"domain": "bash", "pattern": "", "decision": "ask"}' for _ in range(3000))
    text = '{"agents": {"runtime": {"permission": {"rules": [' + rules + "]}}}}"
    with pytest.raises(ConfigError) as caught:
        load_text(Path("config.jsonc"), text, Inline(environ={}))
    assert len(str(caught.value).splitlines()) == 3000
    assert caught.value.message.text("zh").count("应有模式") == 3000
