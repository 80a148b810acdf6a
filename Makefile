# What one does with a checkout. Needs python3 (3.11 or later, with venv), make and git.
PYTHON ?= python3
BIN := .venv/bin
EXAMPLE := examples/supply-chain

.PHONY: test test-slow queues demo gallery site bench live docs scripts clean

## make test: linters, types and the fast tests
test: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/pytest -n auto --dist loadfile

## make test-slow: everything, with fresh random examples
test-slow: .venv/dev
	$(BIN)/pytest -n auto --dist loadfile -m "slow or not slow" --hypothesis-profile=thorough

## make queues: what workers promise, on real servers (Debian: apt-get install nats-server postgresql)
queues: .venv/dev
	$(BIN)/pytest -m "slow or not slow" -rs tests/test_queues.py tests/test_workers.py

## make demo: investigate the shipped example, print the summary, write the report as a page
demo: .venv/run
	rm -rf build/demo
	mkdir -p build
	$(BIN)/kgreason investigate $(EXAMPLE)/data --shapes $(EXAMPLE)/shapes.ttl \
		--ontology $(EXAMPLE)/ontology.ttl --ledger build/demo --format summary
	$(BIN)/kgreason report --ledger build/demo --format html --out build/demo.html
	@echo "The whole report as a page: build/demo.html; the reasoning history: build/demo"

## make gallery: the pages of the worked cases, in build/gallery
gallery: .venv/run
	rm -rf build/gallery
	mkdir -p build/gallery
	$(BIN)/kgreason investigate $(EXAMPLE)/data --shapes $(EXAMPLE)/shapes.ttl \
		--ontology $(EXAMPLE)/ontology.ttl --ledger build/gallery/ledger --out build/gallery/supply-chain.html
	$(BIN)/kgreason investigate examples/violations/data --shapes examples/violations/shapes.ttl \
		--violations examples/violations/report.ttl --ontology examples/violations/ontology.ttl \
		--ledger build/gallery/ledger --out build/gallery/violations.html
	$(BIN)/kgreason investigate examples/academic/data --outcome examples/academic/open-access.rq \
		--question "Which factors go with open access?" --ledger build/gallery/ledger --out build/gallery/academic.html
	$(BIN)/kgreason investigate examples/museum/data --shapes examples/museum/shapes.ttl \
		--ledger build/gallery/ledger --out build/gallery/museum.html

## make site: the documentation as a site, in build/site
site: .venv/site
	$(BIN)/python docs/pages.py
	$(BIN)/mkdocs build --strict --quiet

## make bench: speed and memory beside other engines; results go to benchmarks/results
bench: .venv/bench
	for script in benchmarks/*_bench.py; do $(BIN)/python $$script || exit 1; done

## make live MODEL=openai:NAME: the benchmark's questions put to a real model (SEEDS=0:3)
SEEDS ?= 0:3
live: .venv/live
	@test -n "$(MODEL)" || { echo "Name the model: make live MODEL=openai:NAME (docs/models.md)"; exit 2; }
	$(BIN)/python -m benchmarks.investigators --model "$(MODEL)" --seeds $(SEEDS)
	$(BIN)/kgreason ask "why do shipments lack a promised date?" $(EXAMPLE)/data --model "$(MODEL)" \
		--yes --ledger build/live --max-tokens 200000

## make docs: the pages that are made from query headers and from the ontology
docs: .venv/run
	$(BIN)/python docs/build.py

## make scripts: the npm packages that the pages of `kgreason serve` load (YASGUI, Cytoscape)
scripts:
	$(PYTHON) kgreason/serve/npm/put.py kgreason/serve/static/third-party

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "kgreason needs Python 3.11 or later; say: make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv

.venv/run: pyproject.toml | .venv/bin/python
	$(BIN)/pip install --quiet --editable .
	touch $@

.venv/dev: pyproject.toml | .venv/bin/python
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@ .venv/run

.venv/bench: pyproject.toml | .venv/bin/python
	$(BIN)/pip install --quiet --editable '.[bench,reasonable]'
	touch $@ .venv/run

.venv/live: pyproject.toml | .venv/bin/python
	$(BIN)/pip install --quiet --editable '.[dev,llm,anthropic]'
	touch $@ .venv/run

.venv/site: pyproject.toml | .venv/bin/python
	$(BIN)/pip install --quiet --editable '.[site]'
	touch $@ .venv/run
