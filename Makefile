# Every target makes the environment it needs on first use; the second time nothing is installed.
PYTHON ?= python3
VENV := .venv
READY := $(VENV)/ready
BIN := $(VENV)/bin

.PHONY: demo test bench lint stress clean

demo: $(READY)
	$(BIN)/ravenlab simulate variance-drift --horizon 10000 --replications 200 --jobs 2
	$(BIN)/ravenlab simulate variance-drift --horizon 10000 --replications 200 --jobs 2 --policy ucb1

test: lint
	$(BIN)/python -m pytest -q -n 2

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(READY)
	$(BIN)/python -m tests.benchmarks

clean:
	rm -rf $(VENV) build dist *.egg-info

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ravenlab needs Python 3.11 or newer; say make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[test]"
	touch $(READY)
