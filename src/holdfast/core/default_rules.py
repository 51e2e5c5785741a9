"""The rules that hold before anybody wrote one (PE4), as data.

Order matters: the last rule that matches decides, so the general ones stand first and the credentials last. A user's
own rules come after all of these.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from holdfast.core.patterns import Rule, escaped
from holdfast.core.targets import Domain, Target, mcp_target
from holdfast.core.verdict import Decision

# Names without a scheme: they hold in the vault and outside, at any depth.
CREDENTIAL_FILES: tuple[str, ...] = (
    # environment files
    "*.env*", ".envrc", ".flaskenv",
    # keys and certificates with keys
    "*.pem", "*.key", "*.p12", "*.pfx", "*.p8", "*.jks", "*.keystore", "*.ppk", "*.kdb", "*.kdbx", "*.asc", "*.gpg",
    "*.ovpn", "*.mobileprovision", "*.keytab", "*.keychain", "*.keychain-db",
    "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*_rsa", "*_ed25519", "ssh_host_*_key",
    # log-in files of programs
    ".netrc", "_netrc", ".npmrc", ".yarnrc*", ".pypirc", ".pgpass", "pgpass.conf", ".my.cnf", ".mylogin.cnf",
    ".git-credentials", ".dockercfg", ".dockerconfigjson", ".htpasswd", ".boto", ".s3cfg", ".vault-token",
    ".rediscli_auth", ".gitlab-token", "credentials.json", "client_secret*.json", "service-account*.json",
    "service_account*.json", "application_default_credentials.json", "kubeconfig", "*.kubeconfig", "*.tfstate",
    "*.tfstate.*", "*.tfvars", "terraform.rc", ".terraformrc", "secrets.json", "secrets.yml", "secrets.yaml",
    "secrets.toml", "master.key", "wallet.dat", "rclone.conf", "auth.json",
    # browsers and stores of passwords
    "Login Data*", "Cookies", "Cookies-journal", "Web Data", "key3.db", "key4.db", "logins.json", "cookies.sqlite*",
    "Local State",
    # what was typed before
    ".bash_history", ".zsh_history", ".python_history", ".node_repl_history", ".psql_history", ".mysql_history",
    ".sqlite_history",
)  # fmt: skip

# Folders: everything below them, and the folder itself.
CREDENTIAL_FOLDERS: tuple[str, ...] = (
    "/**/.ssh/**",
    "/**/.aws/**",
    "/**/.gnupg/**",
    "/**/.azure/**",
    "/**/.kube/**",
    "/**/.docker/config.json",
    "/**/.config/gcloud/**",
    "/**/.config/gh/**",
    "/**/.config/hub",
    "/**/.config/glab-cli/**",
    "/**/.config/op/**",
    "/**/.config/doctl/**",
    "/**/.config/rclone/**",
    "/**/.config/sops/**",
    "/**/.config/age/**",
    "/**/.config/heroku/**",
    "/**/.oci/**",
    "/**/.terraform.d/**",
    "/**/.password-store/**",
    "/**/.local/share/keyrings/**",
    "/**/.local/share/kwalletd/**",
    "/**/.cargo/credentials*",
    "/**/.gem/credentials",
    "/**/.m2/settings*.xml",
    "/**/.gradle/gradle.properties",
    "/**/.nuget/NuGet/NuGet.Config",
    "/**/.config/pip/pip.conf",
    "/**/.pip/pip.conf",
    "/**/.mozilla/**",
    "/**/.thunderbird/**",
    "/**/.config/google-chrome/**",
    "/**/.config/chromium/**",
    "/**/.config/BraveSoftware/**",
    "/**/.config/microsoft-edge/**",
    "/**/Library/Keychains/**",
    "/**/Library/Application Support/Google/Chrome/**",
    "/**/Library/Application Support/Firefox/**",
    "/**/Library/Application Support/BraveSoftware/**",
    "/**/Library/Cookies/**",
    "/**/.claude/.credentials.json",
    "/**/.local/share/opencode/auth.json",
    "/**/.codex/auth.json",
    "/**/.gemini/oauth_creds.json",
    "/run/secrets/**",
    "/var/run/secrets/**",
    "/etc/shadow*",
    "/etc/gshadow*",
    "/etc/sudoers*",
    "/etc/sudoers.d/**",
    "/etc/ssl/private/**",
    "/proc/*/environ",
    "/proc/*/mem",
)

CREDENTIALS: tuple[str, ...] = CREDENTIAL_FILES + CREDENTIAL_FOLDERS


def default_rules(
    *,
    outside_edit: Literal["deny", "ask"] = "deny",
    mcp_servers: Iterable[str] = (),
    readable: Iterable[str] = (),
) -> list[Rule]:
    """The built-in rules. `mcp_servers` are those of the user's own configuration; `readable` are folders outside the
    vault that hold what Holdfast itself tells the agent to read (full outputs)."""
    rules: list[Rule] = []

    def add(domain: Domain, pattern: str, decision: Decision) -> None:
        rules.append(Rule(domain, pattern, decision, index=len(rules)))

    add("read", "**", "ask")
    add("read", "vault:/**", "allow")
    for folder in readable:
        add("read", escaped(Target("fs", folder.rstrip("/"))) + "/**", "allow")
    for pattern in CREDENTIALS:
        add("read", pattern, "ask")
    add("edit", "**", outside_edit)
    add("edit", "vault:/**", "allow")
    for pattern in CREDENTIALS:
        # Outside the vault the stricter answer to every edit stays in force.
        add("edit", _in_vault(pattern), "ask")
    add("bash", "shell:*", "ask")
    add("web_fetch", "url:{http,https}://**", "allow")
    add("web_search", "query:*", "allow")
    add("mcp", "mcp:**", "ask")
    for server in mcp_servers:
        add("mcp", escaped(mcp_target(server, "")) + "*", "allow")
    return rules


def _in_vault(pattern: str) -> str:
    return f"vault:{pattern}" if pattern.startswith("/") else f"vault:**/{pattern}"
