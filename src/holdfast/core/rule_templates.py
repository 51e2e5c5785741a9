"""Sets of rules that a user switches on by name (`permission.templates`), as data (PE8).

A template stands between the built-in rules and the user's own, so every rule of the user's still wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from holdfast.core.messages import Phrase
from holdfast.core.patterns import Rule


@dataclass(frozen=True, slots=True)
class Template:
    """Rules with a name and a sentence that says what switching it on means."""

    name: str
    about: Phrase
    rules: tuple[Rule, ...]


def _allow(*patterns: str) -> tuple[Rule, ...]:
    return tuple(Rule("bash", f"shell:{pattern}", "allow") for pattern in patterns)


_PACKAGE_TESTS = (
    "pytest *", "python -m pytest *", "python3 -m pytest *", "python -m unittest *", "python3 -m unittest *", "tox *",
    "nox *", "uv run pytest *", "poetry run pytest *", "hatch test *",
    "npm test *", "npm run test *", "npm run test:* *", "yarn test *", "yarn run test *", "pnpm test *",
    "pnpm run test *", "bun test *", "npx vitest run *", "npx jest *", "deno test *",
    "cargo test *", "cargo nextest run *", "go test *", "make test *", "make check *", "ctest *",
    "mvn test *", "mvn -q test *", "gradle test *", "./gradlew test *", "dotnet test *", "bundle exec rspec *",
    "rspec *", "rake test *", "mix test *", "swift test *", "phpunit *", "composer test *",
)  # fmt: skip

_DOCUMENTATION = (
    "docs.python.org", "packaging.python.org", "*.readthedocs.io", "docs.rs", "doc.rust-lang.org",
    "crates.io", "pkg.go.dev", "go.dev", "developer.mozilla.org", "nodejs.org",
    "www.typescriptlang.org", "react.dev", "svelte.dev", "vite.dev", "vuejs.org", "angular.dev", "docs.oracle.com",
    "docs.spring.io",
    "kotlinlang.org", "docs.swift.org", "learn.microsoft.com", "docs.github.com", "git-scm.com", "docs.docker.com",
    "kubernetes.io", "developer.hashicorp.com", "docs.aws.amazon.com", "cloud.google.com", "www.postgresql.org",
    "www.sqlite.org", "sqlite.org", "dev.mysql.com", "redis.io", "docs.djangoproject.com", "flask.palletsprojects.com",
    "fastapi.tiangolo.com", "ruby-doc.org", "docs.ruby-lang.org", "www.php.net", "en.cppreference.com", "gcc.gnu.org",
    "www.gnu.org", "man7.org", "www.rfc-editor.org", "datatracker.ietf.org", "www.w3.org", "json-schema.org",
    "modelcontextprotocol.io",
)  # fmt: skip

TEMPLATES: Mapping[str, Template] = {
    template.name: template
    for template in (
        Template(
            "read-only-commands",
            Phrase(
                "template.read_only_commands",
                "Commands that parsing proves to change nothing run unasked; what they read is still judged.",
                "经解析证明不改变任何内容的命令无需询问即可运行；其读取的文件仍受审查。",
            ),
            (Rule("bash", "shell:*", "allow", only="read_only"),),
        ),
        Template(
            "git-read",
            Phrase(
                "template.git_read",
                "git commands that parsing proves to change nothing (status, log, diff, show ...) run unasked.",
                "经解析证明不改变任何内容的 git 命令（status、log、diff、show 等）无需询问即可运行。",
            ),
            (Rule("bash", "shell:git *", "allow", only="read_only"),),
        ),
        Template(
            "package-tests",
            Phrase(
                "template.package_tests",
                "The usual test commands run unasked. They run the project's own code.",
                "常用的测试命令无需询问即可运行。它们会运行项目自身的代码。",
            ),
            _allow(*_PACKAGE_TESTS),
        ),
        Template(
            "web-docs",
            Phrase(
                "template.web_docs",
                "Pages of known documentation sites are fetched unasked; every other page asks first.",
                "已知文档站点的页面无需询问即可抓取；其他页面需先询问。",
            ),
            (
                Rule("web_fetch", "url:{http,https}://**", "ask"),
                *(Rule("web_fetch", f"url:https://{host}/**", "allow") for host in _DOCUMENTATION),
            ),
        ),
    )
}


def template_rules(names: Iterable[str]) -> list[Rule]:
    """The rules of the templates that are switched on, each marked with its template."""
    rules: list[Rule] = []
    for name in names:
        template = TEMPLATES.get(name)
        if template is None:
            raise ValueError(f"no template {name!r}; known ones: {', '.join(sorted(TEMPLATES))}")
        rules.extend(replace(rule, source=f"template {name}", index=index) for index, rule in enumerate(template.rules))
    return rules
