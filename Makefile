# Holdfast: `make run` and `make test` set up everything they need; `make` alone lists the targets.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.NOTPARALLEL:

VENV := .venv
BIN := $(VENV)/bin
UV := $(BIN)/uv
WORKERS ?= 2
ARGS ?=

# Start-up of the installed program doubles without compiled bytecode.
unexport PYTHONDONTWRITEBYTECODE

# npm trusts what the system trusts, as pip and uv do: some networks sign with an authority of their own.
SYSTEM_CERTIFICATES := $(wildcard /etc/ssl/certs/ca-certificates.crt)
ifneq ($(SYSTEM_CERTIFICATES),)
export NODE_EXTRA_CA_CERTS ?= $(SYSTEM_CERTIFICATES)
endif

.PHONY: help run chat check test test-full lint format bench lock web screenshots clean system clis

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(VENV)/.runtime ## set up, then open the page (no key, no root, no Node needed)
	@$(BIN)/holdfast serve $(ARGS)

chat: $(VENV)/.runtime ## set up, then start the terminal chat
	@$(BIN)/holdfast chat $(ARGS)

# In memory where there is room for it: hundreds of stores are made, and each waits for the disk with every write.
# Containers often mount it so that nothing can be run from there, and some tests write little programs.
QUICK_TMP = $(shell free=$$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $$4 }'); \
  if [ -w /dev/shm ] && [ "$${free:-0}" -gt 500000 ] && ! grep -q ' /dev/shm .*noexec' /proc/mounts; \
  then echo /dev/shm; else echo "$${TMPDIR:-/tmp}"; fi)

check: lint ## the quick loop: lint, types, import contracts, unit tests with few examples each
	TMPDIR="$(QUICK_TMP)" HOLDFAST_TEST_EXAMPLES=quick $(BIN)/pytest -n $(WORKERS) -m "not e2e and not full and not slow" --ignore=tests/e2e $(ARGS)

test: system lint clis web/node_modules/.installed ## set up, then every test but the `full` ones (ARGS="-k PE3" narrows it)
	PATH="$(CURDIR)/.tools/bin:$$PATH" $(BIN)/pytest -n $(WORKERS) -m "not full" $(ARGS)

test-full: system lint clis web/node_modules/.installed ## every test there is, the hour-long ones too
	PATH="$(CURDIR)/.tools/bin:$$PATH" $(BIN)/pytest $(ARGS)

lint: $(VENV)/.dev ## ruff, mypy and the import contracts
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/.dev ## let ruff rewrite what it can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(VENV)/.bench ## the benchmarks, side by side with the rivals
	@set -e; for bench in benchmarks/bench_*.py; do echo "== $$bench"; $(BIN)/python "$$bench" $(ARGS); done

web: system web/node_modules/.installed ## check the page's source and build it into the package
	@cd web && PATH="$(CURDIR)/.tools/bin:$$PATH" && npm run --silent check && npm test --silent && npm run --silent build

screenshots: system $(VENV)/.dev web/node_modules/.installed ## renew the pictures of the page in the documents
	HOLDFAST_SCREENSHOTS=1 PATH="$(CURDIR)/.tools/bin:$$PATH" $(BIN)/pytest --basetemp=/tmp/holdfast-demo tests/e2e/page/test_gallery.py $(ARGS)

lock: $(VENV)/.bootstrap ## renew requirements/*.txt (ARGS=--upgrade moves the pins)
	tools/lock.sh $(ARGS)

clean: ## remove what the targets above made
	rm -rf $(VENV) .tools web/node_modules .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

system: $(VENV)/.bootstrap
	@tools/system_packages.sh
	@tools/install_node.sh

# The page's tools, for its tests only: whoever uses Holdfast gets the build that is committed. Not `npm ci`: it refuses
# a lock made where the registry has no programs for other systems; this installs the locked versions by their hashes too.
web/node_modules/.installed: web/package-lock.json web/package.json | system
	@if (cd web && PATH="$(CURDIR)/.tools/bin:$$PATH" npm install --no-save --no-audit --no-fund --loglevel=error --no-progress); \
	then touch $@; else echo "make: the page's tools are not installed; its build is not checked"; [ "$$CI" != true ]; fi

clis: $(VENV)/.dev
	@PATH="$(CURDIR)/.tools/bin:$$PATH" tools/install_clis.sh || { \
	  echo "make: the host CLIs are not installed; tests that drive them will be skipped"; [ "$$CI" != true ]; }

# One stamp per lock: a second run costs nothing, a changed lock installs again.
$(VENV)/.bootstrap: requirements/bootstrap.txt tools/bootstrap.sh
	@tools/bootstrap.sh
	@touch $@

$(VENV)/.runtime: $(VENV)/.bootstrap requirements/runtime.txt pyproject.toml src/holdfast/_version.py
	@tools/install.sh requirements/runtime.txt
	@$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime requirements/dev.txt
	@tools/install.sh requirements/dev.txt
	@touch $@

$(VENV)/.bench: $(VENV)/.dev requirements/benchmark.txt
	@tools/install.sh requirements/benchmark.txt
	@touch $@
