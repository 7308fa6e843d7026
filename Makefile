# Every target makes the environment it needs on first use; the second time nothing is installed.
PYTHON ?= python3
VENV := .venv
BASE := $(VENV)/base
READY := $(VENV)/ready
BIN := $(VENV)/bin

.PHONY: demo test bench lint kernels stress audit clean

demo: $(BASE)
	$(BIN)/ravenlab tune --study quick --storage sqlite:///demo.sqlite3
	$(BIN)/ravenlab grid variance-drift --horizon 1000 --storage sqlite:///demo.sqlite3
	$(BIN)/ravenlab report --storage sqlite:///demo.sqlite3 -o demo-report.html
	@echo
	@echo "Open:  demo-report.html in a browser"
	@echo "Here ravenlab is $(BIN)/ravenlab; after \"source $(BIN)/activate\" it is ravenlab."

# The type check keeps one core busy; the other compiles meanwhile what most tests would wait for.
test: $(READY)
	$(MAKE) -j 2 lint kernels
	$(BIN)/python -m pytest -q -n 2 --dist worksteal

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

kernels: $(READY)
	$(BIN)/python -m tools.compile_kernels

# Drawn argument lists a command, damaged storages, trials while twenty read, drivers on one file, studies of the soak.
COUNTS := RAVENLAB_FUZZ=1000 RAVENLAB_DAMAGED=200 RAVENLAB_READ_TRIALS=300 RAVENLAB_DRIVERS=8 RAVENLAB_SOAK=2000

stress: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[gp]"
	RAVENLAB_KILLS=40 $(COUNTS) $(BIN)/python -m pytest -q -n 2 --dist worksteal tests/faults
	$(BIN)/python -m pytest -q -m stress tests
	$(BIN)/python -m tools.recommendation_coverage --studies 1000

bench: $(READY)
	$(BIN)/python -m tools.benchmarks

# Needs the network. Strict: a version that could not be asked about is a failure, not a pass.
audit: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pip-audit
	$(BIN)/pip-audit --strict --no-deps --disable-pip --requirement constraints.txt

clean:
	rm -rf $(VENV) build dist *.egg-info

# Not compiled: of 9000 files that pip would compile one by one, a run imports every fourth and compiles it itself.
define environment
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ravenlab needs Python 3.11 or newer; say make PYTHON=python3.12")'
	@echo "Making an environment in $(VENV), which takes a minute or so ..."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt --editable
endef

$(BASE): pyproject.toml constraints.txt
	$(environment) .
	touch $(BASE)

# What the tests need is on top of what a user needs.
$(READY): pyproject.toml constraints.txt
	$(environment) ".[test]"
	touch $(BASE) $(READY)
