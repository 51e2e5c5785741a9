"""A command is judged by what it would run, read and write, never as a string (PE5, PE8)."""

import pytest

from holdfast.core.settings import PermissionSettings
from judging import bench


def targets(command, **fields):
    call = bench(**fields).examined("bash", command=command)
    return {(access.domain, str(access.target)) for access in call.accesses}


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git status -s", {("bash", "shell:git status -s")}),
        ("git status && rm -rf x", {("bash", "shell:git status"), ("bash", "shell:rm -rf x"), ("edit", "vault:/x")}),
        ("cat a.md > b.md", {("bash", "shell:cat a.md"), ("read", "vault:/a.md"), ("edit", "vault:/b.md")}),
        ("cat /etc/hosts", {("bash", "shell:cat /etc/hosts"), ("read", "fs:/etc/hosts")}),
        ("cat < /etc/hosts", {("bash", "shell:cat"), ("read", "fs:/etc/hosts")}),
        ("cp a /tmp/b", {("bash", "shell:cp a /tmp/b"), ("read", "vault:/a"), ("edit", "fs:/tmp/b")}),
        ("cd /tmp && rm x", {("bash", "shell:cd /tmp"), ("bash", "shell:rm x"), ("edit", "fs:/tmp/x")}),
        (
            "echo $(cat ~/x)",
            {("bash", "shell:echo $(cat ~/x)"), ("bash", "shell:cat /home/u/x"), ("read", "fs:/home/u/x")},
        ),
    ],
)
def test_PE5_what_is_judged(command, expected):
    assert targets(command) == expected


ALLOW_GIT_STATUS = "allow bash shell:git status *"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git status", "allow"),
        ("git status -s", "allow"),
        ("/usr/bin/git status -s", "allow"),
        ("timeout 5 git status -s", "allow"),
        ("git status; git status -s", "allow"),
        ("git status > out.txt", "allow"),  # an edit in the vault
        ("git status > /tmp/out.txt", "deny"),
        ("git status && rm -rf x", "ask"),
        ("git status; curl https://example.org", "ask"),
        ("git status | sh", "ask"),
        ("git status $(rm x)", "ask"),
        ("git status `rm x`", "ask"),
        ("git status <(rm x)", "ask"),
        ("git status\nrm x", "ask"),
        ("git status & rm x", "ask"),
        ("git status || rm x", "ask"),
        ("git stash", "ask"),
        ("git -c core.pager='rm x' status", "ask"),
        ("./git status", "ask"),
        ("/tmp/git status", "ask"),
        ("LD_PRELOAD=./x.so git status", "ask"),
        ("PATH=.:$PATH git status", "ask"),
        ("PATH=.; git status", "ask"),
        ("HOME=/tmp git status", "ask"),
        ("env GIT_DIR=x git status", "ask"),
        ("sudo git status", "ask"),
        ("ssh host git status", "ask"),
        ("git status $X", "ask"),
        ("x=status; git $x", "allow"),
        ("git() { rm x; }; git status", "ask"),
        ("alias git='rm x'; git status", "ask"),
        ("git status 'unclosed", "ask"),
        ("LC_ALL=C git status", "allow"),
        # the text as a whole begins like the rule; the rule is about one command all the same
        ("git status && A=1 git status", "ask"),
        ("git status $(sudo rm x)", "ask"),
        ("git status; env rm x", "ask"),
        ("git status $(bash -c 'rm x')", "ask"),
        ("git() { sudo rm x; }; git status", "ask"),
        ("git status | sudo tee x", "ask"),
        ("git status $(A=1 rm x)", "ask"),
    ],
)
def test_PE5_an_allow_covers_the_command_and_nothing_around_it(command, expected):
    assert bench(ALLOW_GIT_STATUS).bash(command) == expected


@pytest.mark.parametrize(
    "command",
    [
        "rm x", "FOO=1 rm x", "/bin/rm x", "\\rm x", "'rm' x", "r''m x", 'r"m" x', "command rm x", "env rm x",
        "timeout 5 rm x", "nice rm x", "sudo rm x", "eval rm x", "eval 'rm x'", "bash -c 'rm x'", 'sh -c "rm x"',
        "echo x | xargs rm", "find . -exec rm {} +", "find . -name x -exec rm {} \\;", "$(echo rm) x", "a=rm; $a x",
        "true && rm x", "(rm x)", "{ rm x; }", "if true; then rm x; fi", "for f in x; do rm $f; done",
        "while rm x; do :; done", "! rm x", "echo a; rm x", "echo $(rm x)", "cat <(rm x)", "rm x &", "f() { rm x; }; f",
        "bash <<< 'rm x'", "bash <<EOF\nrm x\nEOF", "/tmp/rm x", "./rm x", "time rm x", "exec rm x", "nohup rm x &",
        "busybox rm x", "/bin/busybox rm x",
    ],
)  # fmt: skip
def test_PE5_a_deny_holds_however_the_command_is_written(command):
    assert bench("allow bash *", "deny bash rm *").bash(command) == "deny", command


@pytest.mark.parametrize(
    "command",
    [
        "cat /etc/hosts", "head -1 /etc/hosts", "grep x /etc/hosts", "cat < /etc/hosts", "cat ../etc/hosts",
        "cd /etc && cat hosts", "cat /vault/../etc/hosts", "f=/etc/hosts; cat $f", "cat '/etc'/hosts", "tac /etc/hosts",
        "sed -n 1p /etc/hosts", "awk 1 /etc/hosts", "cp /etc/hosts .", "diff a /etc/hosts", "wc -l /etc/hosts",
        "sort /etc/hosts", "xxd /etc/hosts", "tee < /etc/hosts", "dd if=/etc/hosts",
        "while read l; do :; done < /etc/hosts",
        "python3 -c \"print(open('/etc/hosts').read())\"", "tar cf x.tar /etc/hosts", "less /etc/hosts",
    ],
)  # fmt: skip
def test_PE5_reads_outside_the_vault_are_seen_in_every_command(command):
    assert bench("allow bash *", "deny read fs:/etc/**").bash(command) == "deny", command


@pytest.mark.parametrize(
    "command",
    [
        "echo x > /etc/motd", "echo x >> /etc/motd", "echo x | tee /etc/motd", "cp a /etc/motd", "mv a /etc/motd",
        "sed -i s/a/b/ /etc/motd", "dd if=a of=/etc/motd", "touch /etc/motd", "rm /etc/motd", "ln -s a /etc/motd",
        "install a /etc/motd", "truncate -s 0 /etc/motd", "cat > /etc/motd <<EOF\nx\nEOF", "cd /etc; echo x > motd",
        "python3 -c \"open('/etc/motd','w').write('x')\"", "chmod 777 /etc/motd", "curl -o /etc/motd https://a.org/x",
        "> /etc/motd", "echo x >| /etc/motd", "echo x &> /etc/motd",
    ],
)  # fmt: skip
def test_PE5_writes_outside_the_vault_are_denied_by_default_in_every_command(command):
    assert bench("allow bash *").bash(command) == "deny", command


@pytest.mark.parametrize(
    "command",
    [
        "awk '$1 > 3' a.txt",
        "git commit -m 'a -> b'",
        "ls > /dev/null",
        "ls 2>&1",
        "echo 'x > /etc/motd'",
        "test a -gt b",
    ],
)
def test_PE5_what_is_no_write_is_none(command):
    assert bench("allow bash *").bash(command) == "allow"


def test_PE5_credentials_are_asked_about_behind_an_allowed_command_too():
    judged = bench("allow bash cat *")
    assert judged.bash("cat a.md") == "allow"
    assert judged.bash("cat .env") == "ask"
    assert judged.bash("cat ~/.ssh/id_rsa") == "ask"


def test_PE5_an_address_that_a_command_reaches_is_judged_as_one():
    judged = bench("allow bash *", "deny web_fetch evil.org/**")
    assert judged.bash("curl https://example.org/x") == "allow"
    assert judged.bash("curl https://evil.org/x") == "deny"


def test_PE5_an_uncertain_command_is_allowed_only_by_its_exact_text():
    assert bench("allow bash git push *").bash("git push $REMOTE") == "ask"
    assert bench("allow bash git push $REMOTE").bash("git push $REMOTE") == "allow"
    assert bench("allow bash git push $REMOTE").bash("git push $REMOTE --force") == "ask"


def test_PE5_a_joined_command_with_a_wrapper_is_allowed_only_by_its_exact_text():
    rules = ("allow bash git status *", "allow bash sudo *", "allow bash env *")
    assert bench(*rules).bash("sudo git status") == "allow"
    assert bench(*rules).bash("git status && sudo git status") == "ask"
    exact = "allow bash git status && sudo git status"
    assert bench(*rules, exact).bash("git status && sudo git status") == "allow"


def test_PE5_an_unknown_place_is_asked_about_not_denied_and_not_allowed():
    judged = bench("allow bash *")
    assert judged.bash("cat a.md") == "allow"
    # the command itself is dynamic, so no wildcard allows it
    assert judged.bash("rm $FILE") == "ask"


def test_PE5_a_file_that_only_a_program_names_is_asked_about():
    assert bench("allow bash *").bash("awk '{print > $1}' a.txt") == "ask"


def test_PE5_globs_are_judged_by_the_files_they_stand_for():
    files = {"/vault/*.md": ["/vault/a.md", "/vault/link.md"], "/vault/.e*": ["/vault/.env"]}
    links = {"/vault/link.md": "/etc/passwd"}
    judged = bench("allow bash cat *", expand=files.get, resolve=lambda path: links.get(path, path))
    assert judged.bash("cat .e*") == "ask"
    assert judged.bash("cat *.md") == "ask"  # one of them leads outside
    files["/vault/*.md"] = ["/vault/a.md"]
    assert judged.bash("cat *.md") == "allow"
    # too many to name: not known
    assert judged.bash("cat *.txt") == "ask"


def test_PE5_a_long_loop_hides_nothing():
    names = " ".join(f"f{number}" for number in range(20))
    judged = bench("allow bash *")
    assert judged.bash("for f in a b; do cat $f; done") == "allow"
    assert judged.bash(f"for f in {names[:20]} /etc/shadow {names}; do cat $f; done") == "ask"


READ_ONLY = PermissionSettings(templates=("read-only-commands",))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ls -la", "allow"),
        ("cat a.md | grep x | sort | uniq -c", "allow"),
        ("git log --oneline | head", "allow"),
        ("find . -name '*.py'", "allow"),
        ("wc -l a.py; git diff", "allow"),
        ("cat .env", "ask"),
        ("cat /etc/hosts", "ask"),
        ("ls > out.txt", "ask"),
        ("find . -delete", "deny"),  # the whole vault: a hard limit
        ("find . -name '*.pyc' -delete", "ask"),
        ("sed -i s/a/b/ a.md", "ask"),
        ("npm test", "ask"),
        ("sort -o b a", "ask"),
        ("./script.sh", "ask"),
        ("echo $X", "ask"),
    ],
)
def test_PE8_commands_proven_to_read_run_unasked_by_a_template(command, expected):
    assert bench(settings=READ_ONLY).bash(command) == expected


def test_PE8_a_rule_of_the_users_own_wins_over_a_template():
    assert bench("ask bash cat *", settings=READ_ONLY).bash("cat a.md") == "ask"
    assert bench("deny bash cat *", settings=READ_ONLY).bash("cat a.md") == "deny"


def test_PE8_git_read_and_package_tests():
    git = bench(settings=PermissionSettings(templates=("git-read",)))
    assert git.bash("git status -s") == "allow"
    assert git.bash("git log -p a.py") == "allow"
    assert git.bash("git push") == "ask"
    assert git.bash("git diff --output=x") == "ask"
    assert git.bash("ls") == "ask"
    tests = bench(settings=PermissionSettings(templates=("package-tests",)))
    assert tests.bash("pytest -q tests") == "allow"
    assert tests.bash("npm test && cargo test") == "allow"
    assert tests.bash("npm test && rm x") == "ask"
    assert tests.bash("npm run deploy") == "ask"


def test_PE8_web_docs_asks_about_every_other_page():
    docs = bench(settings=PermissionSettings(templates=("web-docs",)))
    assert docs.decision("web_fetch", url="https://docs.python.org/3/library/re.html") == "allow"
    assert docs.decision("web_fetch", url="https://numpy.readthedocs.io/x") == "allow"
    assert docs.decision("web_fetch", url="https://docs.python.org.evil.org/3/") == "ask"
    assert docs.decision("web_fetch", url="https://example.org/") == "ask"
