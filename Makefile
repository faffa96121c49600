PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
DEMO := .demo

.PHONY: install fix check test test-fast proto demo serve

install: $(INSTALLED)

$(INSTALLED): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[cpu,test]'
	touch $@

fix: install
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

check: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy reciper_ray jobs
	$(BIN)/python protos/generate.py --check

test: check
	$(BIN)/python -m pytest

test-fast: install
	$(BIN)/python -m pytest -m "not slow"

proto: install
	$(BIN)/python protos/generate.py

# Build the sample papers, serve them, ask over gRPC, stop the server again.
demo: install
	$(BIN)/python jobs/demo.py

serve: install
	$(BIN)/reciper build sample/papers --out $(DEMO)
	$(BIN)/reciper serve --snapshot $(DEMO)
