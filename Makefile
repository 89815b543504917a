# `make demo` runs the main job, `make test` passes the tests, `make federation-demo` runs a
# federation of machines on this one. All set everything up.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo federation-demo test check install bench

demo: install
	$(BIN)/fidal demo

federation-demo: install
	$(BIN)/fidal federation demo

test: check
	$(BIN)/pytest -n 2

check: install
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports

install: .venv/installed

.venv/installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@

bench: install
	$(BIN)/pip install --quiet --editable '.[bench]'
	$(BIN)/python benchmarks/selection.py --markdown
