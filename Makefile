# `make setup` once, or never: everything else does it first. PYTHON=/path/to/python3 picks the interpreter (>= 3.11).

PYTHON ?=
BIN := .venv/bin
TOOLS := .venv/.tools
READY := .venv/.ready
PYTEST := $(BIN)/python -m pytest
RELEASED := tests/contract/released.binpb
PROTOS := $(shell find proto -name '*.proto') proto/hatch_build.py

.DEFAULT_GOAL := help
.PHONY: release-contract help setup proto demo up check format test slow bench playthroughs clean

help: ## these lines
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/make \1	\2/p' Makefile | expand -t 20

setup: $(READY) ## make .venv with every tool in it; instant if nothing changed
	@echo "setup: .venv is ready"

$(TOOLS): requirements.lock .ci/venv
	@.ci/venv tools $(PYTHON)
	@touch $@

$(READY): $(TOOLS) pyproject.toml $(PROTOS)
	@.ci/venv project
	@touch $@

proto: $(READY) ## generate code from proto/ anew
	@$(BIN)/python proto/hatch_build.py

demo: $(READY) ## matches with 2, 3 and 4 seats, played to the end over real gRPC
	@$(BIN)/tortuga demo

up: $(READY) ## gateway and games as processes on this machine, until Ctrl-C
	@$(BIN)/tortuga up

check: $(READY) ## format, lint, types, contracts, architecture, rules: before each commit
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/buf lint proto
	$(BIN)/buf breaking proto --against $(RELEASED)
	$(PYTEST) tests/architecture tests/contract tests/rules

format: $(READY) ## put format and import order right
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

test: $(READY) ## everything not marked slow
	$(PYTEST) -n 2 tests

slow: $(READY) ## what is marked slow: real kills, long searches
	@.ci/packages
	$(PYTEST) -m slow --timeout 900 tests

bench: $(READY) ## the cost of an action, side by side with a bare gRPC echo; other benchmarks: tortuga bench --help
	@$(BIN)/tortuga bench actions --slices 3

release-contract: $(READY) ## replace the frozen contract by proto/ as it is; adds a line to CHANGELOG.md
	@$(BIN)/python -m tests.contract.release

playthroughs: $(READY) ## write the golden playthroughs anew; read the diff as code
	$(BIN)/python -m tests.playthroughs.regenerate

clean: ## remove all that was made
	rm -rf .venv .generated .tortuga .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
