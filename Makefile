# Two commands matter: `make try` and `make test`. Paths are relative, for the checkout's own may hold a space.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

BIN := .venv/bin
PYTHON := $(BIN)/python
STYLUA := .tools/node_modules/.bin/stylua
PY_FILES := helper rplugin tests
LUA_FILES := lua plugin
WORKERS ?= 2
ARGS ?=

.PHONY: help setup tools try test lint format bench clean

help:  ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 16

setup:  ## make .venv with the `covey` command; quick when nothing changed
	@.ci/setup

tools:  # the linters that are no Python packages
	@.ci/setup tools

try: setup  ## look around: nvim on a scratch project (without a terminal: a shorter tour, headless)
	@$(PYTHON) -m covey.tour

test: setup lint  ## every check and test; ARGS='tests/lua -k send' for some of the tests
	@$(PYTHON) -m pytest -n $(WORKERS) --ignore=tests/bench $(ARGS)

lint: setup tools  ## formatters, linters, types, layers
	$(BIN)/ruff format --check --quiet $(PY_FILES)
	$(BIN)/ruff check --quiet $(PY_FILES)
	$(BIN)/mypy --strict --no-error-summary
	PYTHONPATH=helper:rplugin/python3 $(BIN)/lint-imports
	if [[ -x $(STYLUA) ]]; then $(STYLUA) --check $(LUA_FILES); fi
	if command -v luacheck >/dev/null; then luacheck --quiet $(LUA_FILES); fi

format: setup tools  ## let the formatters have their way
	$(BIN)/ruff check --quiet --fix-only $(PY_FILES)
	$(BIN)/ruff format --quiet $(PY_FILES)
	if [[ -x $(STYLUA) ]]; then $(STYLUA) $(LUA_FILES); fi

bench: setup  ## measure: each number beside its bare floor, in one run
	@$(PYTHON) -m pytest -p no:xdist -s --timeout=900 tests/bench $(ARGS)

clean:  ## remove all that the commands above made
	rm -rf .venv .tools .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache dist
	find $(PY_FILES) -name __pycache__ -type d -prune -exec rm -rf {} +
