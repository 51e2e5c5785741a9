"""What holds in every mode and under every rule (PE10)."""

import pytest

from holdfast.core.policy import EMPTY
from holdfast.policies.hard_limits import HardLimitsPolicy, standard_protection
from holdfast.testing.builders import EventBuilder
from judging import HOLDFAST_HOME, bench

EVERYTHING = ("allow bash *", "allow read **", "allow edit **", "allow web_fetch *", "allow mcp **")


def hard(tool, **tool_input):
    """Denied although every rule allows it and full access is on."""
    merged = bench(*EVERYTHING, mode="full_access").judge(tool, **tool_input)
    return merged.decision == "deny" and merged.hard


def allowed(tool, **tool_input):
    return bench(*EVERYTHING, mode="full_access").decision(tool, **tool_input) == "allow"


@pytest.mark.parametrize(
    "path",
    [
        f"{HOLDFAST_HOME}/config.jsonc", f"{HOLDFAST_HOME}/agents/x.md", f"{HOLDFAST_HOME}/hooks/x.py",
        f"{HOLDFAST_HOME}/tools/x.py", f"{HOLDFAST_HOME}/run/token", f"{HOLDFAST_HOME}/data/holdfast.db",
        f"{HOLDFAST_HOME}/logs/agent-audit/s1.jsonl", f"{HOLDFAST_HOME}/credentials", HOLDFAST_HOME,
        "~/.holdfast/config.jsonc", "/vault/../home/u/.holdfast/config.jsonc", "/home/u/.HOLDFAST/config.jsonc",
        ".claude/settings.json", ".claude/settings.local.json", "~/.claude/settings.json", "~/.claude.json",
        "sub/.claude/settings.json", "/etc/claude-code/managed-settings.json",
        ".codex/hooks.json", "~/.codex/config.toml", ".gemini/settings.json", "~/.gemini/trustedFolders.json",
        "opencode.json", "opencode.jsonc", ".opencode/plugin/x.js", ".opencode/plugins/x.ts",
        "~/.config/opencode/opencode.json", "~/.config/opencode/plugin/holdfast.js",
    ],
)  # fmt: skip
def test_PE10_no_tool_changes_what_guards_it(path):
    assert hard("write", path=path)
    assert hard("edit", path=path)
    assert hard("delete", path=path)
    assert hard("move", source=path, destination="x")
    assert hard("move", source="x", destination=path)
    assert hard("apply_patch", patch=f"*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch")
    assert hard("bash", command=f"echo x > {path}")
    assert hard("bash", command=f"cp x {path}")


@pytest.mark.parametrize(
    "path", ["~/.claude", ".claude", "~/.codex", "~/.config/opencode", "~/.config", "~/.holdfast", ".opencode", "~"]
)
def test_PE10_the_folder_around_it_may_not_go_either(path):
    assert hard("delete", path=path)
    assert hard("bash", command=f"rm -rf {path}")
    assert hard("bash", command=f"mv {path} /tmp/x")


@pytest.mark.parametrize("name", ["run/token", "run", "run/holdfast.sock", "credentials", "data/holdfast.db", "data"])
def test_PE10_no_tool_reads_the_token_the_keys_or_the_records(name):
    path = f"{HOLDFAST_HOME}/{name}"
    assert hard("read", path=path)
    assert hard("grep", pattern="x", path=path)
    assert hard("bash", command=f"cat {path}")
    assert hard("bash", command=f"base64 < {path}")


def test_PE10_what_the_agent_is_told_to_read_stays_readable():
    assert allowed("read", path=f"{HOLDFAST_HOME}/data/outputs/x.txt")
    assert allowed("read", path=f"{HOLDFAST_HOME}/config.jsonc")
    assert allowed("bash", command=f"grep x {HOLDFAST_HOME}/data/outputs/x.txt")


def test_PE10_a_link_to_the_guard_is_the_guard():
    links = {"/vault/notes": f"{HOLDFAST_HOME}/run/token", "/vault/conf": f"{HOLDFAST_HOME}/config.jsonc"}
    judged = bench(*EVERYTHING, mode="full_access", resolve=lambda path: links.get(path, path))
    assert judged.judge("read", path="notes").hard
    assert judged.judge("write", path="conf").hard
    assert judged.judge("bash", command="cat notes").hard


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf /", "rm -rf /*", "rm -fr / --no-preserve-root", "sudo rm -rf /", "rm -r -f /", "rm -rf //", "rm -rf /.",
        "rm -rf /etc", "rm -rf /usr/*", "rm -rf ~", "rm -rf ~/", "rm -rf ~/*", "rm -rf $HOME", 'rm -rf "$HOME"',
        "rm -rf /home", "rm -rf /home/u", "rm -rf /home/*", "cd / && rm -rf *", "cd /; rm -rf .", "rm -rf ../..",
        "find / -delete", "find / -type f -delete", "find / -exec rm -rf {} +", "find ~ -delete", "bash -c 'rm -rf /'",
        "eval 'rm -rf /'", "env rm -rf /", "/bin/rm -rf /", "x=/; rm -rf $x", "chmod -R 777 /", "chown -R nobody /etc",
        "chmod -R 000 ~", "mv / /tmp/x", "ssh prod rm -rf /", "ssh prod 'sudo rm -rf /var'", "echo 'rm -rf /' | sh",
        "rm -rf /vault", "rm -rf .", "rm -rf *", "rm -rf ./*", "rm -rf ../vault", "find . -delete",
        "mkfs.ext4 /dev/sda1", "mkfs -t ext4 /dev/sdb", "sudo mkfs.xfs /dev/nvme0n1", "mkswap /dev/sda2",
        "dd if=/dev/zero of=/dev/sda", "dd of=/dev/nvme0n1 if=x", "cat x > /dev/sda", "cp x /dev/sda",
        "tee /dev/sda < x",
        "wipefs -a /dev/sda", "shred /dev/sda", "blkdiscard /dev/nvme0n1", "sgdisk --zap-all /dev/sda",
        "parted /dev/sda mklabel gpt", "fdisk /dev/sda", "cryptsetup luksFormat /dev/sda",
        "diskutil eraseDisk JHFS+ x disk2",
        ":(){ :|:& };:", "bomb() { bomb | bomb & }; bomb", "rm -rf build; :(){ :|:& };:",
        "shutdown -h now", "sudo reboot", "halt", "poweroff", "init 0", "systemctl poweroff", "systemctl reboot",
        "echo b > /proc/sysrq-trigger", "echo 1 > /proc/sys/kernel/sysrq", "kill -9 -1", "kill -9 1", "kill -KILL 1",
        "kill -s KILL -- -1", "killall5 -9",
    ],
)  # fmt: skip
def test_PE10_commands_that_never_run(command):
    assert hard("bash", command=command), command


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf build", "rm -rf ./node_modules", "rm -rf src/*", "rm -rf /tmp/x", "rm -rf ~/projects/old",
        "find . -name '*.pyc' -delete", "find src -delete", "chmod -R u+w src", "chown -R u src", "fdisk -l /dev/sda",
        "kill 12345", "kill -9 12345", "kill -l", "kill -1 12345", "killall node", "systemctl status nginx",
        "systemctl restart nginx", "echo 'rm -rf /'", "grep -r 'rm -rf /' .", "git commit -m 'never rm -rf /'",
        "docker run --rm alpine rm -rf /", "ls /", "cat /proc/cpuinfo", "dd if=a of=b", "echo reboot", "man shutdown",
        "ls ~/.claude", "git status", "pkill -f 'node server.js'", "mkdir -p .claude/commands",
        "rm .claude/commands/x.md",
    ],
)  # fmt: skip
def test_PE10_ordinary_commands_are_left_to_the_rules(command):
    assert allowed("bash", command=command), command


def test_PE10_the_reason_says_what_and_what_to_do_instead_in_both_languages():
    merged = bench(mode="full_access").judge("bash", command="rm -rf /")
    assert "rm -rf /" in merged.deciding.why.text()
    assert "rm -rf /" in merged.deciding.why.text("zh")
    merged = bench().judge("write", path="~/.holdfast/config.jsonc")
    assert "Tell the user" in merged.deciding.why.text()


def test_PE10_hosts_and_the_plane_add_to_what_is_protected():
    protected = standard_protection(home="/h", user_home="/home/u", further=("/opt/agent/**",))
    policy = HardLimitsPolicy(protected)
    event = EventBuilder().calling(bench().examined("write", path="/opt/agent/settings.toml"))
    assert policy.decide(event, EMPTY)[0].findings[0].hard
    other = EventBuilder().calling(bench().examined("write", path="/opt/other"))
    assert policy.decide(other, EMPTY)[0].findings == ()


def test_PE10_other_events_are_not_its_business():
    policy = HardLimitsPolicy(standard_protection(home="/h", user_home="/home/u"))
    assert policy.decide(EventBuilder().prompt("rm -rf /"), EMPTY)[0].findings == ()
