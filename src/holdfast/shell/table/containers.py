"""Containers, virtual machines and Kubernetes."""

# ruff: noqa: E501 - one program a line, as in a table

_RUN_OPTS = {
    "-v": "mount",
    "--volume": "mount",
    "--mount": "mount",
    "-p": "val",
    "--publish": "val",
    "-e": "val",
    "--env": "val",
    "--env-file": "read",
    "-w": "val",
    "--workdir": "val",
    "-u": "val",
    "--user": "val",
    "--name": "val",
    "--network": "val",
    "--net": "val",
    "-l": "val",
    "--label": "val",
    "--entrypoint": "entrypoint",
    "-h": "val",
    "--hostname": "val",
    "-m": "val",
    "--memory": "val",
    "--cpus": "val",
    "--restart": "val",
    "--add-host": "val",
    "--dns": "val",
    "--cap-add": "cap",
    "--cap-drop": "val",
    "--security-opt": "val",
    "--device": "val",
    "--gpus": "val",
    "--platform": "val",
    "--pid": "cap",
    "--ipc": "val",
    "--userns": "val",
    "--log-driver": "val",
    "--log-opt": "val",
    "--tmpfs": "val",
    "--ulimit": "val",
    "--shm-size": "val",
    "--link": "val",
    "--volumes-from": "val",
    "--runtime": "val",
    "--pull": "val",
    "--cidfile": "write",
    "--health-cmd": "val",
    "--stop-signal": "val",
    "-a": "val",
    "--attach": "val",
    "--expose": "val",
    "--network-alias": "val",
    "--ip": "val",
    "--cpuset-cpus": "val",
    "--sysctl": "val",
    "--uts": "val",
    "--cgroupns": "val",
    "--group-add": "val",
}
_EXEC_OPTS = {
    "-e": "val",
    "--env": "val",
    "-u": "val",
    "--user": "val",
    "-w": "val",
    "--workdir": "val",
    "--env-file": "read",
    "--detach-keys": "val",
    "--index": "val",
}
_RO = {
    "ro": True,
    "pos": "text",
    "opts": {
        "-f": "val",
        "--filter": "val",
        "--format": "val",
        "-n": "val",
        "--tail": "val",
        "--since": "val",
        "--until": "val",
        "-o": "val",
    },
}
_CHANGE = {
    "pos": "text",
    "risk": "caution",
    "why": "it changes containers",
    "fx": ["external_state:container"],
    "opts": {"-t": "val", "-f": "val", "--time": "val"},
}
_PRUNE = {
    "pos": "text",
    "risk": "dangerous",
    "why": "it deletes everything that is not in use",
    "fx": ["external_state:container"],
    "opts": {"--filter": "val"},
}
_RM = {
    "pos": "text",
    "risk": "caution",
    "why": "it deletes containers or images",
    "fx": ["external_state:container"],
    "when": [
        [
            "-f|--force|-v|--volumes|-a|--all",
            {"risk": "dangerous", "why": "it deletes containers or images by force or with their data"},
        ],
        ["arg~\\$\\(|`|^\\$", {"risk": "dangerous", "why": "it deletes whatever a list names"}],
    ],
}

_COMPOSE = {
    "opts": {
        "-f": "read",
        "--file": "read",
        "-p": "val",
        "--project-name": "val",
        "--profile": "val",
        "--env-file": "read",
        "--project-directory": "val",
        "--ansi": "val",
    },
    "sub": {
        "ps|logs|config|top|images|port|version|ls|events|convert|stats|volumes|help": _RO,
        "up|start|restart|build|pull|create|pause|unpause|scale|watch|stop|kill|push|cp|wait|attach|commit|publish": {
            **_CHANGE,
            "why": "it changes the project's containers",
        },
        "down": {
            **_CHANGE,
            "why": "it removes the project's containers",
            "when": [
                ["-v|--volumes|--rmi", {"risk": "dangerous", "why": "it deletes the project's data volumes or images"}]
            ],
        },
        "rm": {
            **_CHANGE,
            "when": [
                ["-v|--volumes", {"risk": "dangerous", "why": "it deletes data volumes"}],
                ["-f|--force", {"risk": "caution"}],
            ],
        },
        "exec|run": {
            "pos": ["val", "argv"],
            "flags": "container",
            "opts": {**_EXEC_OPTS, "-v": "mount", "-p": "val", "--entrypoint": "val", "--name": "val", "-l": "val"},
            "risk": "caution",
            "why": "it runs in a container",
        },
    },
}

DOCKER = {
    "ps|images|logs|inspect|version|info|stats|top|port|diff|history|search|events|help|--version|-v|df|wait": _RO,
    "run|create": {
        "pos": ["image", "argv"],
        "flags": "container",
        "opts": _RUN_OPTS,
        "handler": "docker_run",
        "risk": "caution",
        "why": "it runs a container",
        "fx": ["external_state:container"],
    },
    "exec": {
        "pos": ["val", "argv"],
        "flags": "container",
        "opts": _EXEC_OPTS,
        "risk": "caution",
        "why": "it runs in a container",
    },
    "rm|rmi": _RM,
    "rmi": {
        **_RM,
        "when": [
            ["-f|--force", {"risk": "dangerous", "why": "it deletes images by force"}],
            ["arg~\\$\\(|`|^\\$", {"risk": "dangerous", "why": "it deletes whatever a list names"}],
        ],
    },
    "kill|stop|start|restart|pause|unpause|rename|update|attach|commit|tag|import|load|pull|logout|login|swarm|service|stack|node|secret|plugin|trust|manifest|checkpoint|buildx|builder|scan|scout|sbom|init|debug|machine|mcp|model|desktop|extension|offload|ai|sandbox|pod|play|kube|generate|healthcheck|mount|umount|unshare|farm|artifact|quadlet": {
        **_CHANGE,
        "when": [
            [
                "arg0~^(?:ls|list|inspect|ps|logs|version|history|du|exists)$",
                {"ro": True, "risk": "safe", "fx": [], "only": True},
            ],
            [
                "arg0~^(?:rm|remove|prune|leave|uninstall|reset)$",
                {"risk": "dangerous", "why": "it deletes container state"},
            ],
        ],
    },
    "build": {
        "pos": "read",
        "opts": {
            "-t": "val",
            "--tag": "val",
            "-f": "read",
            "--file": "read",
            "--build-arg": "val",
            "--target": "val",
            "--platform": "val",
            "--cache-from": "val",
            "--label": "val",
            "--network": "val",
            "--iidfile": "write",
            "-o": "val",
            "--output": "val",
            "--secret": "val",
            "--ssh": "val",
            "--progress": "val",
        },
        "risk": "caution",
        "why": "it builds an image by the project's recipe",
        "fx": ["external_state:container"],
        "unknown": "it builds an image by the project's recipe",
    },
    "push": {
        "pos": "text",
        "risk": "caution",
        "why": "it publishes an image",
        "fx": ["external_state:publish", "network"],
    },
    "save|export": {"ro": True, "pos": "text", "opts": {"-o": "write", "--output": "write"}},
    "cp": {
        "pos": "text",
        "risk": "caution",
        "why": "it copies between a container and this machine",
        "handler": "docker_cp",
    },
    "system": {
        "sub": {
            "df|info|events": _RO,
            "prune": _PRUNE,
            "reset": _PRUNE,
            "connection|migrate|renumber|service|dial-stdio": _CHANGE,
        }
    },
    "volume": {
        "sub": {
            "ls|list|inspect|exists": _RO,
            "create|update|export|import|reload|mount|unmount": _CHANGE,
            "rm|remove": {
                "pos": "text",
                "risk": "dangerous",
                "why": "it deletes data volumes",
                "fx": ["external_state:container"],
            },
            "prune": _PRUNE,
        }
    },
    "image": {
        "sub": {
            "ls|list|inspect|history|tree|exists|diff|search": _RO,
            "rm|remove": _RM,
            "prune": _PRUNE,
            "build|pull|tag|load|import|scp|sign|trust|mount|unmount|untag": _CHANGE,
            "push": {
                "pos": "text",
                "risk": "caution",
                "why": "it publishes an image",
                "fx": ["external_state:publish"],
            },
            "save": {"ro": True, "pos": "text", "opts": {"-o": "write"}},
        }
    },
    "container": {
        "sub": {
            "ls|list|ps|inspect|logs|stats|top|port|diff|exists": _RO,
            "rm|remove": _RM,
            "prune": _PRUNE,
            "start|stop|restart|kill|pause|unpause|rename|update|commit|attach|wait|cp|checkpoint|restore|cleanup|init|mount|unmount|clone|runlabel|export": _CHANGE,
            "run|create": {
                "pos": ["image", "argv"],
                "flags": "container",
                "opts": _RUN_OPTS,
                "handler": "docker_run",
                "risk": "caution",
                "why": "it runs a container",
                "fx": ["external_state:container"],
            },
            "exec": {
                "pos": ["val", "argv"],
                "flags": "container",
                "opts": _EXEC_OPTS,
                "risk": "caution",
                "why": "it runs in a container",
            },
        }
    },
    "network": {
        "sub": {
            "ls|list|inspect|exists": _RO,
            "create|connect|disconnect|reload|update": _CHANGE,
            "rm|remove": {**_CHANGE, "risk": "dangerous", "why": "it deletes networks"},
            "prune": _PRUNE,
        }
    },
    "builder|buildx": {
        "sub": {
            "prune": {
                **_PRUNE,
                "risk": "caution",
                "why": "it deletes the build cache",
                "when": [["-a|--all", {"risk": "dangerous", "why": "it deletes the whole build cache"}]],
            },
            "ls|inspect|du|version": _RO,
            "build|bake|create|use|rm|stop|imagetools|history|dial-stdio|install|uninstall": _CHANGE,
        }
    },
    "context": {
        "sub": {
            "ls|list|inspect|show": _RO,
            "use|create|update|export|import": _CHANGE,
            "rm": {**_CHANGE, "risk": "caution"},
        }
    },
    "compose": _COMPOSE,
}

_KUBE_OPTS = {
    "-n": "val",
    "--namespace": "val",
    "--context": "val",
    "--kubeconfig": "read",
    "--cluster": "val",
    "-s": "val",
    "--server": "val",
    "--user": "val",
    "--token": "val",
    "--as": "val",
    "--request-timeout": "val",
    "-v": "val",
    "-l": "val",
    "--selector": "val",
    "-o": "val",
    "--output": "val",
    "-c": "val",
    "--container": "val",
    "--field-selector": "val",
    "--sort-by": "val",
    "--tail": "val",
    "--since": "val",
    "--timeout": "val",
    "--replicas": "val",
    "--image": "val",
    "--type": "val",
    "--grace-period": "val",
    "--overrides": "val",
    "--port": "val",
    "--cascade": "val",
    "--dry-run": "?val",
    "-p": "?val",
    "--patch": "val",
}
_KUBE_CHANGE = {
    "pos": "text",
    "risk": "caution",
    "why": "it changes the cluster",
    "fx": ["external_state:kubernetes"],
    "opts": {**_KUBE_OPTS, "-f": "read", "--filename": "read", "-k": "read"},
    "dry": "--dry-run",
}
_KUBECTL = {
    "opts": _KUBE_OPTS,
    "sub": {
        "get|describe|logs|log|top|explain|api-resources|api-versions|version|cluster-info|diff|events|wait|options|help|completion|plugin": {
            "ro": True,
            "pos": "text",
            "opts": {**_KUBE_OPTS, "-f": "?read", "--filename": "read", "-k": "read"},
            "fx": ["network"],
        },
        "auth|rollout": {
            "pos": "text",
            "risk": "caution",
            "why": "it changes the cluster",
            "fx": ["external_state:kubernetes"],
            "opts": _KUBE_OPTS,
            "when": [
                [
                    "arg0~^(?:can-i|whoami|status|history)$",
                    {"ro": True, "risk": "safe", "fx": ["network"], "only": True},
                ],
                ["arg0~^undo$", {"risk": "caution"}],
            ],
        },
        "config": {
            "pos": "text",
            "risk": "caution",
            "why": "it changes which cluster is used",
            "when": [
                ["arg0~^(?:view|get-|current-context)", {"ro": True, "risk": "safe", "only": True}],
                ["arg0~^(?:delete-|unset)", {"risk": "dangerous", "why": "it deletes access to a cluster"}],
            ],
        },
        "apply|create|patch|edit|scale|autoscale|label|annotate|expose|set|run|cordon|uncordon|certificate|port-forward|proxy|attach|debug|kustomize|convert": _KUBE_CHANGE,
        "apply": {
            **_KUBE_CHANGE,
            "when": [
                ["--prune", {"risk": "dangerous", "why": "it deletes what the files do not name"}],
                ["--force", {"risk": "dangerous", "why": "it deletes and makes again"}],
            ],
        },
        "replace": {**_KUBE_CHANGE, "when": [["--force", {"risk": "dangerous", "why": "it deletes and makes again"}]]},
        "scale": {
            **_KUBE_CHANGE,
            "when": [["--replicas~^0$", {"risk": "dangerous", "why": "it stops every copy of a workload"}]],
        },
        "kustomize": {"ro": True, "pos": "read"},
        "delete": {**_KUBE_CHANGE, "risk": "dangerous", "why": "it deletes from the cluster"},
        "drain": {**_KUBE_CHANGE, "risk": "dangerous", "why": "it empties a node"},
        "taint": {
            **_KUBE_CHANGE,
            "when": [["arg~:NoExecute$", {"risk": "dangerous", "why": "it drives workloads from a node"}]],
        },
        "exec": {
            "pos": ["val", "argv"],
            "flags": "container",
            "opts": _KUBE_OPTS,
            "risk": "caution",
            "why": "it runs in the cluster",
            "handler": "kubectl_exec",
        },
        "cp": {
            "pos": "text",
            "risk": "caution",
            "why": "it copies between the cluster and this machine",
            "opts": _KUBE_OPTS,
            "handler": "docker_cp",
        },
    },
}
_VM = {
    "verbs": "virtual machine",
    "destroys": "destroy undefine unregistervm closemedium delete",
    "reads": "global-status port ssh-config box dominfo domstate list nodeinfo showvminfo",
}

TABLE = {
    "docker|podman|nerdctl|finch|docker.io|lima-nerdctl": {"opts": {"-H": "val", "--host": "val", "-c": "val", "--context": "val", "--config": "val", "-l": "val", "--log-level": "val", "--url": "val", "--connection": "val"}, "sub": DOCKER},
    "docker-compose|podman-compose": _COMPOSE,
    "kubectl|oc|k|kubecolor|microk8s.kubectl|k3s-kubectl|kubectl.exe": _KUBECTL,
    "microk8s|k3s|minikube|kind|k3d|k0s|rke|rke2|kops|eksctl|kubeadm|talosctl|clusterctl|vcluster|crc|colima|lima|limactl|multipass|orb|rancher|kubespray|gardenctl|loft|okteto|telepresence|civo-k8s|cilium|istioctl|linkerd|consul-k8s|kubeseal|kapp|kpt|velero|argocd|argo|flux|tkn|fission|knative|kn|func|kubeless|openfaas|faas-cli|dapr|operator-sdk|kubebuilder|helmfile|helmsman|tanka|tk|crossplane|up|porter|cnab|skaffold|tilt|garden|werf|devspace|draft|ko|jib|kaniko|buildah|skopeo|crane|oras|regctl|reg|cosign|notation|img|umoci|runc|crun|ctr|crictl|containerd|lxc|lxd|incus|lxc-ls|machinectl|systemd-nspawn|distrobox|toolbox|singularity|apptainer|charliecloud|udocker|nomad|waypoint|rancher-cli|docker-machine|portainer|swarmctl|cf|ibmcloud|kwokctl|karmadactl|kubefed|cmctl|calicoctl|etcdctl_k8s|kubens|kubectx": {
        "verbs": "container", "destroys": "destroy delete down rm prune uninstall reset drain undeploy purge", "reads": "profile addons ip dashboard service logs app"},
    "kubectx|kubens|stern|kubetail|k9s|dive|popeye|pluto|kubent|kube-bench|kube-hunter": {"ro": True, "pos": "text", "when": [["-d|--delete", {"ro": False, "risk": "caution"}]]},
    "minikube|kind|k3d": {"verbs": "container", "reads": "ip dashboard service profile status", "sub": {"ssh": {"pos": "remote", "risk": "caution", "why": "it runs in a virtual machine"}, "kubectl": _KUBECTL}},
    "skopeo|crane|regctl|oras": {"verbs": "registry", "reads": "inspect ls manifest digest config catalog list-tags", "sub": {"copy|push|sync|append|tag|attach": {"pos": "text", "risk": "caution", "why": "it changes a registry", "fx": ["external_state:publish"]}}},
    "helm": {
        "opts": {"-n": "val", "--namespace": "val", "--kube-context": "val", "--kubeconfig": "read"},
        "sub": {
            "list|ls|status|get|history|hist|show|inspect|search|version|env|template|lint|verify|help|completion": {"ro": True, "pos": "text", "fx": ["network"], "opts": {"-f": "read", "--values": "read", "--set": "val", "-n": "val", "--post-renderer": "shell", "--output-dir": "write"}, "when": [["--output-dir|--post-renderer", {"ro": False}]]},
            "uninstall|delete|del|un": {"pos": "text", "risk": "dangerous", "why": "it deletes a release from the cluster", "fx": ["external_state:kubernetes"], "dry": "--dry-run", "opts": {"-n": "val", "--namespace": "val"}},
            "rollback": {"pos": "text", "risk": "dangerous", "why": "it rolls a release back", "fx": ["external_state:kubernetes"], "dry": "--dry-run"},
            "install|upgrade|test|repo|registry|plugin|pull|fetch|push|package|create|dependency|dep": {"pos": "text", "risk": "caution", "why": "it changes releases", "fx": ["external_state:kubernetes"], "opts": {"-f": "read", "--values": "read", "--set": "val", "--version": "val", "-n": "val", "--post-renderer": "shell"}, "dry": "--dry-run", "when": [["arg0~^(?:list|ls)$", {"ro": True, "risk": "safe", "fx": [], "only": True}], ["--force|--reset-values", {"risk": "dangerous", "why": "it replaces resources by force"}]]},
        },
    },
    "vagrant|VBoxManage|vboxmanage|virsh|virt-install|virt-clone|prlctl|vmrun|qm|pct|pvesh|xl|xe|govc|esxcli|vim-cmd|utmctl|tart|cloud-localds|virt-manager|virt-viewer|vmctl|bhyvectl|vm": _VM,
    "qemu-img": {"sub": {"info|check|map|measure|compare|snapshot": {"ro": True, "pos": "read", "when": [["-d|-a|-c", {"ro": False, "risk": "caution"}], ["-r", {"ro": False}]]}, "create|convert|resize|rebase|commit|amend|dd|bitmap": {"pos": "write", "risk": "caution", "why": "it changes a disk image", "opts": {"-f": "val", "-O": "val", "-o": "val", "-b": "val"}}}},
    "qemu-system-x86_64|qemu|kvm|qemu-system-aarch64|qemu-kvm": {"pos": "read", "risk": "caution", "why": "it runs a virtual machine", "style": "dash", "unknown": "it runs a virtual machine"},
}  # fmt: skip
