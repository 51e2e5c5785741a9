"""Uses of programs that show a secret: an access token, a password, a private key.

By the name of the program, a pattern for the whole command as it is written. Showing is caution; what is shown
is remembered as a secret, so that sending it away is seen.
"""

# ruff: noqa: E501 - one program a line, as in a table

DISCLOSES = {
    "aws": r" (?:get-secret-value|batch-get-secret-value|get-session-token|assume-role\S*|get-federation-token|get-login-password|get-authorization-token|get-login|create-access-key|export-credentials|get-credentials-for-identity|get-random-password|presign|generate-db-auth-token|get-token)\b| ssm get-param\S* .*--with-decryption",
    "gcloud": r" auth (?:application-default )?print-(?:access|identity|refresh)\S*| secrets versions access\b| sql generate-login-token\b",
    "az": r" (?:account get-access-token|keyvault (?:secret|key|certificate) (?:show|download)|storage account keys list|\S+ list-keys|\S+ show-connection-string|acr (?:login .*--expose-token|credential show)|cosmosdb keys list|ad sp credential)\b",
    "kubectl|oc|k": r" get\b.*\bsecrets?\b.*(?:-o|--output|--template)| config view\b.*--raw| create token\b| whoami -t\b",
    "vault|bao|openbao": r" (?:read|kv get|token create|print token|unwrap|lease lookup)\b",
    "op": r" (?:read|item get|document get|inject|signin)\b|--reveal",
    "bw": r" (?:get (?:password|totp|notes|item)|export|unlock)\b",
    "pass|gopass|lpass": r" (?:show|export|cat)\b|^(?:pass|gopass) (?!ls|list|find|search|grep|git|init|insert|generate|edit|rm|mv|cp|help|version|show|otp|config|sync|mounts)\S+",
    "gh|glab": r" auth (?:token|status .*(?:-t|--show-token))\b",
    "doppler|infisical|chamber": r" (?:secrets(?: (?:get|download|substitute))?|export|read|env)\b",
    "heroku": r" (?:config(?::get)?|auth:token|pg:credentials\S*)\b",
    "docker|podman": r" inspect\b.*\.Config\.Env",
    "npm|yarn|pnpm": r" token list\b| config (?:get|list|ls)\b.*(?:auth|token|-l\b)",
    "terraform|tofu": r" output\b.*(?:-raw|-json)| state pull\b",
    "git": r" credential (?:fill|get)\b|credential-\w+ get\b",
    "gpg|gpg2": r" --export-secret\S*",
    "ssh-keygen": r" -y\b",
    "openssl": r" (?:rsa|pkey|ec|pkcs8|pkcs12)\b(?!.*-pubout)(?!.*-pubin)(?!.*-noout)",
    "sops|age|rage|ansible-vault|mozilla-sops|eyaml": r" (?:-d|--decrypt|decrypt|view|exec-env|exec-file)\b",
    "keyctl": r" (?:print|pipe|read)\b",
    "secret-tool|keyring": r" (?:lookup|get|search)\b",
    "kubeseal": r"--recovery-unseal",
    "wg": r"^wg (?:genkey|showconf|show\b.*private-key)",
    "step": r" crypto key\b",
    "fly|flyctl": r" auth token\b",
    "firebase": r" login:ci\b",
    "ngrok": r" config check\b.*show",
}  # fmt: skip
