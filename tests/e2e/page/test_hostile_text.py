"""Text of models, tools and files is data: a script in it stays a text, wherever the page shows it."""

import pytest
from playwright.sync_api import expect

from e2e.page.conftest import SECONDS

ATTACKS = (
    "<script>window.pwned = 1</script>",
    "<img src=x onerror='window.pwned = 2'>",
    "<svg onload='window.pwned = 3'>",
    '"><iframe srcdoc="<script>parent.pwned = 4</script>"></iframe>',
    "<a href='javascript:window.pwned=5'>link</a>",
    "[click](javascript:window.pwned=6)",
    "![x](https://example.invalid/tracker.png)",
    "<style>*{display:none!important}</style>",
    "<form action=//example.invalid><button>x</button></form>",
    "<math><mtext><table><mglyph><style><img src=x onerror=window.pwned=7>",
)
ALL = "\n\n".join(ATTACKS)


@pytest.fixture
def asked_outside(window):
    """A window that writes down every request that leaves the server."""

    def make(**options):
        one = window(**options)
        one.outside = []
        one.page.on(
            "request",
            lambda request: (
                None if request.url.startswith((one.served.url, "data:", "blob:")) else one.outside.append(request.url)
            ),
        )
        one.page.on("dialog", lambda dialog: one.outside.append(dialog.message))
        return one

    return make


def inert(one):
    """Nothing ran, nothing was fetched, and no element came out of the text."""
    page = one.page
    assert page.evaluate("window.pwned") is None
    assert one.outside == []
    found = page.evaluate(
        """() => [...document.querySelectorAll('main script, iframe, object, embed, form[action], math')].length
           + [...document.querySelectorAll('main img, main style, main svg [onload]')].length
           + [...document.querySelectorAll('*')].filter(
               e => [...e.attributes].some(a => a.name.startsWith('on'))).length
           + [...document.querySelectorAll('a')].filter(a => /^(javascript|data|vbscript):/i.test(a.href)).length"""
    )
    assert found == 0
    one.problems = [said for said in one.problems if "Content Security Policy" not in said]


def read_through(one):
    """From the beginning to the end with everything opened; what was met on the way."""
    met = set()
    names = {
        "compaction": "[data-compaction]",
        "markdown": ".markdown",
        "tool": "[data-tool-state]",
        "link": ".markdown a",
    }
    for step in range(60):
        end = one.page.evaluate(
            """step => { const log = document.querySelector('[role=log]'); log.scrollTop = step * 300;
                 for (const one of log.querySelectorAll('details')) one.open = true;
                 for (const head of log.querySelectorAll('.head[aria-expanded=false]')) head.click();
                 return step * 300 > log.scrollHeight }""",
            step,
        )
        one.page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        met |= {name for name, selector in names.items() if one.page.locator(selector).count()}
        unsafe = "[...document.querySelectorAll('.markdown a')].filter(a => !/noopener/.test(a.rel)).length"
        assert one.page.evaluate(unsafe) == 0
        inert(one)
        if end:
            break
    return met


def test_UI1_hostile_markdown_file_names_diffs_commands_and_digests_are_inert(asked_outside, hosts, served):
    where = hosts.begin("claude-code")
    hosts.say(where, f"{ALL} hostile title")
    hosts.reply(
        where,
        f"# heading {ATTACKS[1]}\n\n{ALL}\n\n```html\n{ALL}\n```\n\n| a | b |\n|-|-|\n| {ATTACKS[1]} | {ATTACKS[2]} |",
    )
    hosts.done(where, "bash", ALL, command=f"echo '{ATTACKS[1]}'")
    hosts.done(where, "read", ALL, failed=True, path=f"{served.vault}/{ATTACKS[1]}.txt")
    hosts.compact(where, summary=ALL, before=10, after=5)
    target = served.vault / "guarded" / "<img src=x onerror='window.pwned = 8'>.html"
    target.parent.mkdir(exist_ok=True)
    target.write_text("old\n", encoding="utf-8")
    diff = hosts.ask(where, "edit", path=str(target), old_string="old", new_string=ALL)
    command = hosts.ask(where, "bash", command=f"npm publish \"{ATTACKS[1]}\" && echo '{ATTACKS[0]}'")
    other = hosts.ask(where, "web_fetch", url=f"https://example.invalid/?{ATTACKS[1]}")

    one = asked_outside()
    one.open(f"chat/{where.key.thread}")
    expect(one.page.get_by_role("log").locator("[data-row]").first).to_be_visible(timeout=SECONDS)
    seen = read_through(one)
    assert {"compaction", "markdown", "tool", "link"} <= seen
    one.open("inbox")
    for approval in (diff, command, other):
        expect(one.page.locator(f'[data-approval="{approval.id}"]')).to_be_visible()
    for summary in one.page.locator("summary").all():
        summary.click()
    inert(one)
    for screen in (f"sessions/{where.key.thread}", "search?q=pwned", "audit"):
        one.open(screen)
        expect(one.page.locator("main h1").first).to_be_visible()
        expect(one.page.locator("main .skeleton")).to_have_count(0)
        inert(one)
    phone = asked_outside(phone=True, language="zh")
    phone.open(f"chat/{where.key.thread}")
    expect(phone.page.locator(".markdown").first).to_be_visible()
    inert(phone)
    for approval in (diff, command, other):
        hosts.control.approvals.cancel(approval_id=approval.id)


def test_UI1_hostile_words_of_the_own_agent_and_of_mentions_are_inert(asked_outside, served):
    name = "<img src=x onerror=pwned=9>.md"
    (served.vault / name).write_text(ALL, encoding="utf-8")
    one = asked_outside()
    thread = served.thread(f'read "{name}"')
    served.until_idle(thread)
    one.open(f"chat/{thread}")
    expect(one.page.locator("[data-tool-state]").first).to_be_visible()
    box = one.page.get_by_label("Message", exact=True)
    box.press_sequentially("@<img")
    expect(one.page.get_by_role("option").first).to_be_visible()
    inert(one)
    box.fill(f"{ATTACKS[1]} {ATTACKS[0]}")
    box.press("Enter")
    expect(one.page.get_by_text(ATTACKS[1]).last).to_be_visible()
    served.until_idle(thread)
    inert(one)
