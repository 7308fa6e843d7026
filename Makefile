# Every target creates the environment that it needs on first use.
PYTHON ?= python3
VENV := .venv
BASE := $(VENV)/base
READY := $(VENV)/ready
SITE := $(VENV)/site
BIN := $(VENV)/bin

# Every process would compile all imported modules again: 2 s for each ravenlab command.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test bench lint pytest kernels docs stress audit clean

demo: $(BASE)
	$(BIN)/ravenlab tune --study quick --storage sqlite:///demo.sqlite3
	$(BIN)/ravenlab report --storage sqlite:///demo.sqlite3 -o demo-report.html
	@echo
	@echo "Open demo-report.html in a browser."
	@echo "Run $(BIN)/ravenlab, or \"source $(BIN)/activate\" and then ravenlab."

# The type check uses one core for a minute; the tests need not wait for it.
test: $(READY)
	$(MAKE) -j 2 lint pytest

# Most tests need the kernels, so they are compiled first.
pytest: kernels
	$(BIN)/python -m pytest -q -n 2 --dist worksteal

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

kernels: $(READY)
	$(BIN)/python -m tools.compile_kernels

# Random argument lists per command, commands on damaged storages, trials with twenty readers, drivers on one file, studies of the soak test.
COUNTS := RAVENLAB_FUZZ=1000 RAVENLAB_DAMAGED=10000 RAVENLAB_READ_TRIALS=300 RAVENLAB_DRIVERS=8 RAVENLAB_SOAK=2000

stress: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable ".[gp]"
	RAVENLAB_KILLS=40 $(COUNTS) $(BIN)/python -m pytest -q -n 2 --dist worksteal tests/faults
	$(BIN)/python -m pytest -q -m stress tests
	$(BIN)/python -m tools.evidence.recommendation_coverage --studies 1000
	$(BIN)/python -m tools.evidence.collection_coverage --seeds 2000
	$(BIN)/python -m tools.evidence.paired_coverage 21

# Pages, notebook and API reference as a site that needs no network and no server: open site/index.html.
docs: $(SITE)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "Open site/index.html in a browser."

bench: $(READY)
	$(BIN)/python -m tools.benchmarks

# Needs the network. Strict: a version that could not be checked is a failure.
audit: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pip-audit
	$(BIN)/pip-audit --strict --no-deps --disable-pip --requirement constraints.txt

clean:
	rm -rf $(VENV) build dist site *.egg-info

# editable_mode=compat: otherwise a clone called ravenlab in the current folder would hide the package.
# --no-compile: pip would compile 9,000 files, of which a run imports a quarter.
define environment
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ravenlab needs Python 3.11 or newer; run make PYTHON=python3.12")'
	@echo "Creating an environment in $(VENV), which takes about a minute ..."
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt --config-settings editable_mode=compat --editable
endef

$(BASE): pyproject.toml constraints.txt
	$(environment) .
	touch $(BASE)

# The packages of the tests in addition to those of a user.
$(READY): pyproject.toml constraints.txt
	$(environment) ".[test]"
	touch $(BASE) $(READY)

# The packages of the documentation site.
$(SITE): pyproject.toml constraints.txt
	$(environment) ".[docs]"
	touch $(BASE) $(SITE)
