"""Cloud providers, infrastructure as code, deployment."""

# ruff: noqa: E501 - one program a line, as in a table

_TF = {
    "style": "dash",
    "sub": {
        "plan|show|output|validate|version|graph|providers|metadata|modules|help|-version|--version": {"ro": True, "style": "dash", "pos": "text", "opts": {"-out": "write", "-var": "val", "-var-file": "read", "-target": "val"}, "fx": ["network"], "when": [["-destroy", {"ro": True}]]},
        "fmt": {"style": "dash", "pos": "write", "risk": "caution", "why": "it formats files", "when": [["-check|-diff", {"ro": True, "risk": "safe", "pos": "read", "only": True}]]},
        "init|workspace|login|logout|import|refresh|taint|untaint|get|test": {"style": "dash", "pos": "text", "risk": "caution", "why": "it changes the state", "fx": ["external_state:terraform"], "when": [["arg0~^(?:list|show)$", {"ro": True, "risk": "safe", "fx": [], "only": True}], ["arg0~^delete$", {"risk": "dangerous", "why": "it deletes a workspace"}]]},
        "taint": {"style": "dash", "pos": "text", "risk": "dangerous", "why": "it marks a resource to be destroyed", "fx": ["external_state:terraform"]},
        "apply": {"style": "dash", "pos": "text", "risk": "caution", "why": "it changes the infrastructure", "fx": ["external_state:cloud"], "opts": {"-var": "val", "-var-file": "read", "-target": "val", "-replace": "val"}, "when": [["-destroy|--destroy", {"risk": "dangerous", "why": "it destroys the infrastructure"}], ["-auto-approve|--auto-approve", {"risk": "dangerous", "why": "it changes the infrastructure without showing what"}]]},
        "destroy": {"style": "dash", "pos": "text", "risk": "dangerous", "why": "it destroys the infrastructure", "fx": ["external_state:cloud"]},
        "state": {"style": "dash", "sub": {"list|show|pull": {"ro": True, "pos": "text", "fx": ["network"]}, "rm|mv|push|replace-provider": {"pos": "text", "risk": "dangerous", "why": "it changes the record of the infrastructure", "fx": ["external_state:terraform"]}}},
        "force-unlock": {"pos": "text", "risk": "dangerous", "why": "it breaks a lock that protects the state", "fx": ["external_state:terraform"]},
    },
}  # fmt: skip
_S3 = {
    "ls|presign": {"ro": True, "pos": "text", "fx": ["network"]},
    "cp|mv|sync|mb|website": {"pos": "text", "risk": "caution", "why": "it copies to or from the cloud", "fx": ["external_state:cloud", "network"], "dry": "--dryrun|--dry-run|-n", "opts": {"--exclude": "val", "--include": "val", "--profile": "val", "--acl": "val"}, "handler": "cloud_copy", "when": [["--delete", {"risk": "dangerous", "why": "it deletes what is not in the source"}]]},
    "rm|rb": {"pos": "text", "risk": "dangerous", "why": "it deletes from the cloud", "fx": ["external_state:cloud"], "dry": "--dryrun|--dry-run"},
}  # fmt: skip
_AWS_OPTS = {
    "--profile": "val",
    "--region": "val",
    "--output": "val",
    "--query": "val",
    "--endpoint-url": "val",
    "--cli-read-timeout": "val",
    "--ca-bundle": "read",
    "--color": "val",
}  # fmt: skip

# The last argument is a file that is written.
_AWS_FILE = {
    "pos": "write",
    "risk": "caution",
    "why": "it writes what it gets to a file",
    "fx": ["network"],
    "opts": {
        **_AWS_OPTS,
        **dict.fromkeys(
            (
                "--bucket",
                "--key",
                "--version-id",
                "--range",
                "--rest-api-id",
                "--stage-name",
                "--export-type",
                "--thing-name",
                "--vault-name",
                "--account-id",
                "--job-id",
                "--text",
                "--voice-id",
                "--output-format",
                "--expression",
                "--expression-type",
                "--input-serialization",
                "--output-serialization",
            ),
            "val",
        ),
    },
}

TABLE = {
    "aws|awslocal|aws2": {
        "verbs": "cloud",
        "opts": _AWS_OPTS,
        "reads": "decode-authorization-message scan batch-get-item tail wait presign",
        "sub": {
            "s3": {"opts": _AWS_OPTS, "sub": _S3},
            "secretsmanager|ssm": {"verbs": "secret store", "destroys": "update-secret put-secret-value put-parameter delete-secret", "reads": "get-random-password"},
            "ssm": {"verbs": "cloud", "sub": {"start-session|send-command": {"pos": "text", "risk": "caution", "why": "it runs on another machine", "fx": ["external_state:cloud"], "unknown": "a session on another machine"}}},
            "configure|sso|login": {"pos": "text", "risk": "caution", "why": "it changes who is logged in", "when": [["arg0~^(?:list|get|list-profiles)$", {"ro": True, "risk": "safe", "only": True}]]},
            "sts": {"verbs": "cloud", "reads": "get-caller-identity get-session-token decode-authorization-message"},
            "iam": {"verbs": "cloud", "sub": {"attach-user-policy|attach-role-policy|put-user-policy|put-role-policy|create-access-key|create-user|add-user-to-group|update-assume-role-policy|create-login-profile|attach-group-policy": {"pos": "text", "risk": "dangerous", "why": "it gives rights in the cloud", "fx": ["external_state:cloud"], "opts": {"--user-name": "val"}}}},
            "lambda": {"verbs": "cloud", "sub": {"invoke": {"pos": ["write"], "risk": "caution", "why": "it runs a function", "fx": ["external_state:cloud"], "opts": {"--function-name": "val", "--payload": "val", "--region": "val"}}}},
            "s3api": {"verbs": "cloud", "sub": {"get-object|get-object-torrent|select-object-content": _AWS_FILE}},
            "glacier|apigateway|iot-data|medialive|polly|kinesis-video-media": {"verbs": "cloud", "sub": {"get-job-output|get-export|get-sdk|get-thing-shadow|describe-thumbnails|synthesize-speech|get-media": _AWS_FILE}},
            "ec2": {"verbs": "cloud", "destroys": "terminate-instances revoke-security-group-ingress release-address"},
        },
    },
    "gcloud": {
        "verbs": "cloud",
        "opts": {"--project": "val", "--account": "val", "--format": "val", "--configuration": "val", "--zone": "val", "--region": "val"},
        "reads": "get-value config-helper print-access-token list",
        "sub": {
            "compute": {"verbs": "cloud", "sub": {"ssh": {"pos": ["host", "text"], "risk": "caution", "why": "it opens a session on another machine", "opts": {"--command": "shell", "--zone": "val", "--project": "val"}, "unknown": "a session on another machine"}, "scp": {"pos": "text", "risk": "caution", "why": "it copies to or from another machine", "fx": ["network"]}}},
            "config|auth|init": {"pos": "text", "risk": "caution", "why": "it changes settings of the client", "when": [["arg0~^(?:list|get|get-value|print-access-token|print-identity-token|describe)$", {"ro": True, "risk": "safe", "only": True}], ["arg0~^configurations$ arg1~^(?:list|describe)$", {"ro": True, "risk": "safe", "only": True}], ["arg0~^revoke$", {"risk": "dangerous", "why": "it takes away access"}]]},
            "run|builds|deploy|scheduler|backup-dr|lock": {"verbs": "cloud"},
            "beta|alpha": {"verbs": "cloud", "sub": {"run|builds|deploy|scheduler": {"verbs": "cloud"}}},
            "storage": {"verbs": "cloud", "sub": {"rm": {"pos": "text", "risk": "dangerous", "why": "it deletes from the cloud", "fx": ["external_state:cloud"]}, "cp|mv|rsync": _S3["cp|mv|sync|mb|website"]}},
            "projects": {"verbs": "cloud", "sub": {"add-iam-policy-binding": {"pos": "text", "risk": "dangerous", "why": "it gives rights in the cloud", "fx": ["external_state:cloud"]}}},
        },
    },
    "gsutil": {
        "opts": {"-o": "val", "-h": "val", "-u": "val"},
        "sub": {
            **_S3,
            "cat|du|stat|hash|version|help|ver|getmeta": {"ro": True, "pos": "text", "fx": ["network"]},
            "rsync": {"pos": "text", "risk": "caution", "why": "it copies to or from the cloud", "fx": ["external_state:cloud"], "when": [["-d", {"risk": "dangerous", "why": "it deletes what is not in the source"}], ["-n", {"risk": "safe", "only": True}]]},
            "acl|iam|setmeta|config|lifecycle|versioning|cors|defacl|notification|label|retention|kms|compose|web|logging|hmac": {"pos": "text", "risk": "caution", "why": "it changes the cloud", "fx": ["external_state:cloud"], "when": [["arg0~^(?:get|list)$", {"ro": True, "risk": "safe", "fx": [], "only": True}]]},
        },
    },
    "bq": {"verbs": "database", "opts": {"--project_id": "val", "--format": "val"}, "sub": {"query": {"pos": "sql", "fx": ["network"], "risk": "caution", "why": "it asks the database", "opts": {"--use_legacy_sql": "?val", "--destination_table": "val"}}, "rm": {"pos": "text", "risk": "dangerous", "why": "it deletes tables or datasets", "fx": ["external_state:database"]}}},
    "az": {"verbs": "cloud", "opts": {"-o": "val", "--output": "val", "--subscription": "val", "--query": "val"}, "destroys": "deallocate purge untag", "reads": "exists url", "sub": {"lock": {"verbs": "cloud"}, "config": {"verbs": "cloud", "destroys": "unset"}, "configure|init|interactive": {"pos": "text", "risk": "caution", "why": "it changes settings of the client"}}},
    "doctl|linode-cli|hcloud|vultr-cli|scw|exo|oci|ibmcloud|aliyun|tccli|openstack|nova|neutron|cinder|glance|otc|ovhcloud|upctl|civo|equinix|metal|flyctl|fly|heroku|vercel|vc|now|netlify|ntl|railway|render|surge|firebase|amplify|supabase|planetscale|pscale|neonctl|turso|wrangler|cloudflared|flarectl|cf-terraforming|digitalocean|koyeb|northflank|clever|scalingo|platform|lagoon|acli|terminus|pantheon|upsun|dokku|caprover|coolify|kamal|cap|mina|deployer|dep|envoyer|forge|ploi|eb|copilot|sam|serverless|sls|cdk|cdktf|pulumi|sst|arc|claudia|zappa|chalice|apex|begin|edgio|azd|swa|bicep|arm|knife|berks|cinc|bolt|rundeck|octo|stackit|infracost|spacelift|env0|tfe|tfc|scalr|driftctl|cloudquery|steampipe|powerpipe|prowler|scoutsuite|cloudsploit|cloud-nuke|aws-nuke|leapp|granted|assume|saml2aws|gimme-aws-creds|okta-aws-cli|auth0|okta|keycloak|kcadm.sh|duo|ldap-cli|stripe|twilio|sendgrid|mailgun|algolia|contentful|shopify|magento-cloud|salesforce|sf|sfdx|hubspot|zendesk|zcli|datadog-ci|newrelic|sentry-cli|pd|opsgenie|statuspage|ngrok|localtunnel|lt|bore|inlets|tailscale|zerotier-cli|nebula|headscale|netbird|boundary|teleport|tsh|tctl|infisical|chamber|confidant|credstash|bws|bw|lpass|gopass|pass|keepassxc-cli|1password|op|akeyless|conjur|doppler|vault|bao|consul|nats|rabbitmqadmin|rabbitmqctl|rabbitmq-plugins|rabbitmq-diagnostics|circleci|travis|drone|woodpecker-cli|buildkite-agent|bk|jenkins-cli|jenkins-jobs|gitlab-runner|gitlab-rails|gitlab-ctl|concourse|spin|codefresh|harness|semaphore|appcenter|bitrise|codemagic|eas-cli|databricks|snow|fivetran|airbyte|confluent|ccloud|rpk|strimzi|pulsar-admin|pulsarctl|temporal|camunda|zbctl|ldcli|unleash|flagsmith|growthbook|posthog|mongocli|atlas|elasticsearch-cli|curator|es|opensearch-cli|meilisearch|typesense|weaviate|milvus_cli|chroma|pinecone|qdrant|minio|mc|s3cmd|s5cmd|s4cmd|rclone|b2|storj|uplink|wasabi|ipfs|filecoin|arweave|bundlr": {"verbs": "cloud", "destroys": "destroy delete remove down rm purge wipe unregister", "reads": "ip releases ps regions orgs dashboard open domains account inspect about lsd lsf lsl lsjson md5sum sha1sum size tree ncdu netcheck whois bugreport synth diff cat head stat du find share generate autocomplete"},
    "heroku": {
        "verbs": "cloud",
        "opts": {"-a": "val", "--app": "val"},
        "destroys": "apps:destroy pg:reset addons:destroy pg:killall pipelines:destroy domains:remove ps:stop",
        "reads": "apps pg ps releases addons domains logs config auth:whoami",
        "sub": {
            "run": {"pos": "remote", "risk": "caution", "why": "it runs on another machine", "opts": {"-a": "val"}},
            "config:set|config:unset|releases:rollback": {"pos": "text", "risk": "caution", "why": "it changes the deployed app", "fx": ["external_state:deploy"]},
            "maintenance:on|maintenance:off|ps:scale|ps:restart|git:remote|login|auth:login": {"pos": "text", "risk": "caution", "fx": ["external_state:deploy"], "why": "it changes the deployed app"},
        },
    },
    "fly|flyctl|vercel|netlify|railway|firebase|wrangler|amplify|supabase|eb|sam|cdk|pulumi|serverless|sls|sst|kamal|copilot|cf|doctl|now|render|surge|dokku|cap": {
        "verbs": "deploy",
        "destroys": "destroy delete remove down rm purge suspend apps:destroy sites:delete functions:delete hosting:disable firestore:delete db:reset scale:0 reset teardown terminate projects:delete",
        "reads": "ip releases ps regions orgs dashboard open domains about synth diff inspect secrets:list list ls whoami docs doctor",
        "opts": {"-a": "val", "--app": "val", "-c": "val", "--config": "val", "--project": "val", "-P": "val", "--stage": "val", "-s": "val", "--stack": "val", "--profile": "val"},
        "sub": {
            "deploy|up|publish|push|--prod|watch": {"pos": "text", "risk": "caution", "why": "it deploys", "fx": ["external_state:deploy", "network"]},
            "ssh|console|shell": {"pos": "text", "risk": "caution", "why": "it opens a session on another machine", "unknown": "a session on another machine", "opts": {"-C": "shell", "-c": "shell", "--command": "shell", "-a": "val"}},
            "dev|local|serve|start|run|emulators:start|build|init|login|logout|env|link|pull|preview|logs|completion": {"pos": "text", "risk": "caution", "why": "it runs or changes the project"},
            "apps|secrets|volumes|machines|certs|ips|postgres|redis|domains|projects|teams|dns|alias|storage|functions|hosting|firestore|database|d1|kv|r2|queues|tail|stack|config|state|policy": {"verbs": "deploy", "destroys": "destroy delete remove rm purge unset disable release detach del"},
        },
    },
    "vercel|vc|now|surge": {"verbs": "deploy", "ro": False, "risk": "caution", "why": "without a subcommand it deploys", "reads": "ls list whoami inspect", "opts": {"-A": "val", "-S": "val", "-t": "val"}, "destroys": "remove rm", "sub": {"deploy|--prod": {"pos": "text", "risk": "caution", "why": "it deploys", "fx": ["external_state:deploy", "network"]}, "dev|build|init|login|logout|env|link|pull": {"pos": "text", "risk": "caution", "why": "it runs or changes the project"}}},
    "pulumi": {
        "verbs": "cloud",
        "opts": {"-s": "val", "--stack": "val", "-C": "val", "--cwd": "val"},
        "destroys": "destroy cancel",
        "sub": {
            "up|update": {"pos": "text", "risk": "caution", "why": "it changes the infrastructure", "fx": ["external_state:cloud"], "when": [["-y|--yes|-f|--skip-preview", {"risk": "dangerous", "why": "it changes the infrastructure without showing what"}]]},
            "preview|pre|whoami|about|logs": {"ro": True, "pos": "text"},
            "stack": {"verbs": "cloud", "sub": {"rm": {"pos": "text", "risk": "dangerous", "why": "it deletes a stack", "fx": ["external_state:cloud"]}}, "reads": "output ls select graph history tag"},
            "state": {"verbs": "cloud", "destroys": "delete unprotect rename"},
            "refresh|import|new|login|logout|config": {"pos": "text", "risk": "caution", "why": "it changes the stack"},
        },
    },
    "terraform|tofu|tf|terragrunt|opentofu": _TF,
    "packer": {"sub": {"validate|inspect|version|help": {"ro": True, "pos": "text"}, "plugins": {"pos": "text", "risk": "caution", "why": "it changes the plugins", "fx": ["installs"], "when": [["arg0~^(?:installed|required|help)$", {"ro": True, "risk": "safe", "fx": []}]]}, "fmt": {"pos": "write", "risk": "caution", "why": "it formats files", "style": "dash", "when": [["-check", {"ro": True, "risk": "safe", "pos": "read"}], ["-write~^false$", {"ro": True, "risk": "safe", "pos": "read"}]]}, "build|init|console|hcl2_upgrade|fix": {"pos": "text", "risk": "caution", "why": "it builds machine images", "unknown": "it builds machine images"}}},
    "ansible": {
        "pos": "val",
        "opts": {"-m": "val", "-a": "shell", "-i": "read", "-u": "val", "-e": "val", "--become-user": "val", "-f": "val", "-l": "val", "--limit": "val", "-t": "val"},
        "risk": "caution",
        "why": "it runs on other machines",
        "fx": ["external_state:remote machines"],
        "when": [["--list-hosts", {"ro": True, "risk": "safe", "fx": [], "only": True}], ["-a~state=absent", {"risk": "dangerous", "why": "it deletes on other machines"}]],
    },
    "ansible-playbook|ansible-pull|ansible-console": {
        "pos": "script",
        "opts": {"-i": "read", "-e": "val", "-l": "val", "-t": "val", "--tags": "val", "--limit": "val", "-u": "val", "--vault-password-file": "read", "--skip-tags": "val", "-f": "val", "--extra-vars": "val", "--become-user": "val"},
        "risk": "caution",
        "why": "it changes other machines",
        "fx": ["external_state:remote machines"],
        "when": [["--syntax-check|--list-tasks|--list-hosts|--list-tags", {"ro": True, "risk": "safe", "fx": [], "pos": "read", "only": True}], ["--check", {"risk": "caution", "fx": [], "only": True}]],
    },
    "ansible-galaxy|ansible-vault|ansible-inventory|ansible-doc|ansible-config": {"verbs": "settings", "reads": "list view info", "sub": {"install": {"pos": "pkg", "risk": "caution", "fx": ["installs", "network"]}, "encrypt|decrypt|edit|rekey|create": {"pos": "write", "risk": "caution", "why": "it changes a file"}}},
    "ansible-inventory|ansible-doc": {"ro": True, "pos": "text", "opts": {"-i": "read"}},
    "salt|salt-call|salt-ssh|salt-run|puppet|chef-client|chef-solo|chef-apply|knife|mco|pdsh|clush|pssh|dsh|mussh|cssh": {"pos": "text", "risk": "caution", "why": "it changes machines", "fx": ["external_state:remote machines"], "handler": "remote_words"},
    "vault|bao|openbao": {
        "verbs": "secret store",
        "opts": {"-address": "val", "-namespace": "val"},
        "style": "dash",
        "destroys": "disable revoke destroy delete seal rekey step-down metadata-delete",
        "reads": "status read lookup audit login",
        "sub": {
            "login|write|unwrap|operator|server|agent|ssh|proxy|plugin|print|debug|path-help": {"verbs": "secret store", "pos": "text", "reads": "lookup capabilities status members diagnose"},
            "write": {"pos": "text", "risk": "caution", "why": "it changes a secret", "fx": ["external_state:secrets"]},
            "login": {"pos": "text", "risk": "caution", "why": "it logs in"},
        },
    },
    "doppler|infisical": {
        "verbs": "secret store",
        "opts": {"-p": "val", "-c": "val", "--project": "val", "--config": "val", "--token": "val"},
        "reads": "setup login download me",
        "sub": {
            "run": {"pos": "argv", "ro": False, "risk": "caution", "why": "it runs with secrets in its environment", "opts": {"-p": "val", "-c": "val", "--command": "shell", "--project": "val", "--config": "val", "--env": "val"}},
            "login|setup|configure": {"pos": "text", "risk": "caution", "why": "it changes settings"},
        },
    },
    "op|bw|lpass|gopass|pass": {
        "verbs": "secret store",
        "reads": "whoami signin read inject otp generate show ls grep find sync unlock status",
        "destroys": "rm delete archive",
        "sub": {"run": {"pos": "argv", "risk": "caution", "opts": {"--env-file": "read"}, "why": "it runs with secrets in its environment"}, "mv|cp|insert|edit|add|git|init|create": {"pos": "text", "risk": "caution", "why": "it changes secrets", "fx": ["external_state:secrets"]}},
    },
    "velero": {"verbs": "backup", "sub": {"backup|restore|schedule|snapshot": {"verbs": "backup", "sub": {"create|logs|describe|get|download": {"pos": "text", "risk": "caution", "why": "it reads or makes backups", "fx": ["external_state:kubernetes"]}}}}},
    "rclone": {
        "opts": {"--config": "read"},
        "sub": {
            "ls|lsd|lsl|lsf|lsjson|size|md5sum|sha1sum|hashsum|cat|check|cryptcheck|about|version|listremotes|tree|ncdu|help|link|backend": {"ro": True, "pos": "text", "fx": ["network"]},
            "copy|copyto|copyurl|mount|serve|mkdir|touch|rcat|settier|bisync|archive|config|rc|selfupdate|authorize|obscure|genautocomplete|completion|rcd|cryptdecode": {"pos": "text", "risk": "caution", "why": "it copies to or from the cloud", "fx": ["external_state:cloud", "network"], "dry": "-n|--dry-run", "handler": "cloud_copy"},
            "sync|move|moveto|delete|deletefile|purge|rmdir|rmdirs|cleanup|dedupe": {"pos": "text", "risk": "dangerous", "why": "it deletes at the source or the destination", "fx": ["external_state:cloud", "network"], "dry": "-n|--dry-run|-i|--interactive"},
        },
    },
    "restic": {
        "opts": {"-r": "val", "--repo": "val", "-p": "read", "--password-file": "read", "--password-command": "shell", "-o": "setting", "--option": "setting"},
        "sub": {
            "snapshots|check|stats|ls|find|dump|version|diff|cat|list|help|cache": {"ro": True, "pos": "text", "opts": {"-r": "val", "--target": "write", "-t": "write"}, "when": [["--cleanup", {"ro": False, "risk": "caution", "why": "it deletes caches"}]]},
            "backup|init|mount|unlock|restore|copy|tag|key|migrate|recover|repair|rewrite|self-update|generate": {"pos": "text", "risk": "caution", "why": "it changes backups or restores them", "fx": ["external_state:backup"], "opts": {"-r": "val", "--target": "write", "-t": "write", "--stdin-from-command": "shell"}},
            "forget|prune": {"pos": "text", "risk": "dangerous", "why": "it deletes backups", "fx": ["external_state:backup"], "dry": "-n|--dry-run"},
            "key": {"pos": "text", "risk": "caution", "why": "it changes who can read backups", "fx": ["external_state:backup"], "when": [["arg0~^list$", {"ro": True, "risk": "safe", "fx": []}], ["arg0~^remove$", {"risk": "dangerous", "why": "it takes away access to backups"}]]},
            "unlock": {"pos": "text", "risk": "caution", "why": "it removes locks", "fx": ["external_state:backup"], "when": [["--remove-all", {"risk": "dangerous", "why": "it breaks locks that protect backups"}]]},
        },
    },
    "borg|borgmatic": {
        "opts": {"-r": "val", "--repo": "val", "--rsh": "shell"},
        "sub": {
            "list|info|diff|check|version|help|repo-list|repo-info|rlist|rinfo|benchmark|debug": {"ro": True, "pos": "text", "when": [["--repair", {"ro": False, "risk": "dangerous", "why": "it repairs by deleting"}]]},
            "create|init|mount|umount|extract|rcreate|repo-create|export-tar|import-tar|rename|recreate|upgrade|config|with-lock|break-lock|serve|key|transfer|tag|undelete|webui|completion": {"pos": "text", "risk": "caution", "why": "it changes backups or restores them", "fx": ["external_state:backup"], "dry": "--dry-run|-n"},
            "delete|prune|compact|repo-delete|rdelete|repo-compress|repo-space": {"pos": "text", "risk": "dangerous", "why": "it deletes backups", "fx": ["external_state:backup"], "dry": "--dry-run|-n"},
        },
    },
    "duplicity|duply|bacula|bconsole|rdiff-backup|rsnapshot|timeshift|snapper|kopia|duplicacy|bup|attic|zbackup|tarsnap|tmutil|wal-g|pgbackrest|barman|xtrabackup|mariabackup|percona": {"verbs": "backup", "destroys": "delete remove-older-than remove-all-but-n-full remove-all-inc-of-but-n-full cleanup deletesnapshot thinlocalsnapshots expire", "reads": "list-current-files collection-status verify listbackups latestbackup"},
    "cloud-nuke|aws-nuke": {"pos": "text", "risk": "dangerous", "why": "it deletes everything in an account", "fx": ["external_state:cloud"]},
    "gitlab-runner": {"verbs": "ci", "reads": "list status verify", "destroys": "unregister reset-token", "sub": {"exec": {"pos": "text", "risk": "caution", "unknown": "it runs a job"}}},
    "sentry-cli|stripe|shopify|twilio|auth0|okta|ldcli": {"verbs": "service", "destroys": "delete archive remove"},
    "deck": {"verbs": "gateway", "reads": "ping diff validate dump file", "destroys": "reset", "sub": {"gateway": {"verbs": "gateway", "reads": "ping diff validate dump", "destroys": "reset", "sub": {"sync|apply": {"pos": "text", "risk": "dangerous", "why": "it makes the gateway a copy, deleting what is not in the file", "fx": ["external_state:gateway"]}, "dump": {"pos": "text", "risk": "caution", "why": "it writes a file", "opts": {"-o": "write"}, "fx": ["network"]}}}, "sync": {"pos": "text", "risk": "dangerous", "why": "it makes the gateway a copy, deleting what is not in the file", "fx": ["external_state:gateway"]}, "dump": {"pos": "text", "risk": "caution", "why": "it writes a file", "opts": {"-o": "write"}, "fx": ["network"]}}},
    "fastly|akamai|cdn77|keycdn|bunny": {"verbs": "cdn", "reads": "whoami pops ip-list stats", "destroys": "purge delete disable activate", "opts": {"--service-id": "val", "--version": "val", "--token": "val"}},
    "azcopy": {"verbs": "cloud", "reads": "list", "destroys": "remove rm", "sub": {"copy|cp|c|make|mk|login|logout|jobs|env|bench": {"pos": "text", "risk": "caution", "why": "it copies to or from the cloud", "fx": ["external_state:cloud", "network"]}, "sync": {"pos": "text", "risk": "caution", "why": "it copies to or from the cloud", "fx": ["external_state:cloud", "network"], "opts": {"--delete-destination": "val"}, "when": [["--delete-destination~^(?:true|prompt)$", {"risk": "dangerous", "why": "it deletes what is not in the source"}]]}}},
    "splunk": {"verbs": "service", "destroys": "clean remove offline", "reads": "btool show list search status"},
    "grafana-cli|grafana": {"verbs": "service", "reads": "list-remote list-versions ls", "destroys": "uninstall remove reset-admin-password"},
    "gitlab-rake|gitlab-ctl|gitlab-backup": {"verbs": "service", "reads": "status tail show-config", "destroys": "cleanse uninstall restore gitlab:backup:restore"},
}  # fmt: skip
