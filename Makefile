# Every command a developer or operator needs; `make help` lists them.
# The distribution's own interpreter where it will do: it is built with profile-guided optimisation,
# which makes the gateway a quarter faster than a plain build from a version manager.
ifndef PYTHON
PYTHON := $(shell for python in /usr/bin/python3 python3; do \
	$$python -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	&& echo $$python && exit; done; echo python3)
endif
VENV := .venv
BIN := $(VENV)/bin
WEB := src/zurelay/console/web
PIP := $(BIN)/pip install --quiet --disable-pip-version-check

.PHONY: help setup dev serve test check chaos cluster bench bench-peers real format lock clean
.DEFAULT_GOAL := help

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("Zurelay needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.serve: requirements.lock pyproject.toml | $(BIN)/python
	@echo "Installing the locked dependencies ..."
	@$(PIP) --require-hashes --only-binary :all: -r requirements.lock
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements-dev.lock $(VENV)/.serve
	@echo "Installing the locked development tools ..."
	@$(PIP) --require-hashes --only-binary :all: -r requirements-dev.lock
	@touch $@

# Scripts for the console's pages. It works without them, if plainer, so nothing fails here.
$(VENV)/.web: $(WEB)/package-lock.json | $(BIN)/python
	@if ! command -v npm >/dev/null; then echo "No npm here: the console does without some scripts."; \
	elif (cd $(WEB) && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null); then touch $@; \
	else echo "npm could not fetch the console's scripts; it does without them."; fi

setup: $(VENV)/.serve $(VENV)/.web ## create .venv with the locked dependencies

dev: $(VENV)/.dev $(VENV)/.web

serve: setup ## start the gateway; ARGS="--port 9000" passes arguments on
	@$(BIN)/zurelay serve $(ARGS)

test: dev ## every test that needs no outside network; ARGS="-k name" passes arguments on
	@$(BIN)/python -m pytest $(ARGS)

check: dev ## lint, format, strict types, layer contracts
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

chaos: dev ## a minute among failing upstreams, and what must hold after it; ARGS="--seed 7 --hedge"
	@$(BIN)/python -m tests.chaos $(ARGS)

cluster: dev ## a minute of three nodes over PostgreSQL and Valkey, killed, drained, cut off; ARGS="--seed 7"
	@$(BIN)/python -m tests.cluster $(ARGS)

bench: setup ## requests/s, CPU and memory beside the peers installed; ARGS="--quick" for one short round
	@$(BIN)/python -m bench $(ARGS)

bench-peers: ## install the peers of the benchmark, each in an environment of its own
	@grep -v '^#' bench/peers.txt | while read -r name requirement; do \
	  echo "Installing $$requirement ..."; \
	  $(PYTHON) -m venv .peers/$$name && \
	  .peers/$$name/bin/pip install --quiet --disable-pip-version-check "$$requirement" || exit 1; \
	done

real: setup ## answers of a real small model through the gateway (compiles llama.cpp at first: minutes)
	@$(PYTHON) scripts/real.py

format: dev ## let ruff format and fix what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: ## make both lock files anew from pyproject.toml (needs uv)
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header --quiet --upgrade --group build pyproject.toml -o requirements.lock
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header --quiet --upgrade --group build --group dev pyproject.toml -o requirements-dev.lock

clean: ## remove what the build made
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
