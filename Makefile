# Everything runs in .venv, which is made once and again only when its recipe changes.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help demo docs studio test test-long lint format bench results campaign clean

help:            ## what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## +/\t/' | expand -t 14

KERNEL := $(wildcard src/reknit/exact/compiled/*.c src/reknit/exact/compiled/*.h)

$(READY): pyproject.toml constraints.txt $(KERNEL)
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "reknit needs Python 3.11 or later")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[all]'
	@touch $@

DEMO := --uavs 200 --destroy 100 --seed 7 --out demo
demo: $(READY)   ## break a swarm, restore it in two ways, show them (pictures in ./demo)
	$(BIN)/reknit recover --planner certified $(DEMO)
	$(BIN)/reknit compare --planners ml-dagl,certified $(DEMO)
	@echo "Open demo/index.html in a browser: both planners, side by side."

studio: $(READY) ## break and mend swarms in the browser
	$(BIN)/reknit serve --open $(SERVE)

test: $(READY)   ## every test but the long ones
	bash tests/install_browser
	$(BIN)/pytest -n 2 -m "not long" --cov --cov-report=term:skip-covered

test-long: $(READY)  ## the long tests
	$(BIN)/pytest -n 2 -m long

lint: $(READY)   ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	bash tests/check_page

docs: $(READY)   ## the site, in ./site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

format: $(READY) ## put the code in shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)  ## speed and memory of this installation
	$(BIN)/reknit bench
	for file in benchmarks/bench_*.py; do $(BIN)/python -m benchmarks.$$(basename $$file .py) || exit 1; done

results: $(READY) ## run all studies (quick profile, under an hour) and write docs/results.md
	$(BIN)/reknit study run all --profile quick
	$(BIN)/reknit study run examples/published-sizes.toml --profile quick
	$(BIN)/reknit study report all --profile quick
	$(BIN)/python docs/make_results.py

CAMPAIGN_MINUTES ?= 240
campaign: $(READY) ## try to break it for hours (CAMPAIGN_MINUTES=; goes on where it was) and write docs/reliability.md
	OMP_NUM_THREADS=1 $(BIN)/python -m campaign --minutes $(CAMPAIGN_MINUTES)

clean:           ## remove what make made
	rm -rf $(VENV) demo site .coverage .pytest_cache .mypy_cache .ruff_cache .hypothesis
