# The commands: `make demo` shows what sidecut does, `make test` checks that it does it, `make docs` builds the site.
# All make their own environment in .venv; nothing need be installed beforehand but Python 3.11 or newer.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

# Small problems and many test processes: one thread each is fastest.
export OMP_NUM_THREADS ?= 1

.PHONY: demo test lint types unit browser screenshots docs dist tensors evidence papers peers bench-tests changed-bench-tests format clean

demo: $(VENV)/.demo-ready
	$(BIN)/sidecut demo -o demo-output

test: lint types unit changed-bench-tests docs dist

lint: $(VENV)/.test-ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.test-ready
	$(BIN)/mypy

# Tests, doctests of the library and of the pages in docs/, and the layering test.
unit: $(VENV)/.test-ready browser
	$(BIN)/pytest -n auto -q

# Tests and doctests of the measuring code, and of the pages it writes. `make test` runs them where benchmarks/ or docs/lab
# differ from the main branch, or on the main branch from the commit before.
bench-tests: $(VENV)/.test-ready
	$(BIN)/pytest -n auto -q benchmarks

changed-bench-tests:
	@base=$$(git merge-base HEAD origin/main 2>/dev/null); \
	if [ -z "$$base" ] || [ "$$base" = "$$(git rev-parse HEAD)" ]; then base=$$(git rev-parse -q --verify HEAD~1); fi; \
	if [ -n "$$base" ] && git diff --quiet "$$base" -- benchmarks docs/lab; \
	then echo "benchmarks/ has not changed: its tests are left out. To run them: make bench-tests"; \
	else $(MAKE) bench-tests; fi

# The studio is tested in a real Chromium: the one that is here (or that SIDECUT_CHROMIUM names), or else Debian's.
CHROMIUMS := chromium chromium-browser chromium-headless-shell google-chrome google-chrome-stable
browser:
	@test -n "$$SIDECUT_CHROMIUM" && exit 0; \
	for name in $(CHROMIUMS); do command -v $$name >/dev/null && exit 0; done; \
	echo "No Chromium is here; installing the package chromium."; \
	if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	  apt-get update -q && apt-get install -y -q --no-install-recommends chromium && exit 0; \
	fi; \
	echo "Chromium is missing, and could not be installed. The tests of the studio need it: install chromium" >&2; \
	echo "(as root: apt-get install chromium), or set SIDECUT_CHROMIUM to the path of one, and try again." >&2; \
	exit 1

# The pictures in docs/studio.md, made anew by the browser.
screenshots: $(VENV)/.test-ready browser
	$(BIN)/python -m benchmarks.quality.studio.screenshots

# PyTorch tensors as input: PyTorch is too large for `make test`. Its build for processors is enough and far smaller than the
# usual one; TORCH says which is installed, such as TORCH=torch==2.13.0, or the path of a wheel.
TORCH ?= torch
tensors: $(VENV)/.test-ready
	$(BIN)/python -m pip install --quiet "$(TORCH)"
	$(BIN)/pytest -q tests/integrations/with_torch.py

# The site, in docs/_build/html: open index.html, no server is needed. Warnings are errors; then every link, every picture
# and every public name is looked for in the pages. What did not change is not built again; `make clean` starts afresh.
docs: $(VENV)/.docs-ready
	GALLERY_JOBS=2 $(BIN)/python -m sphinx -W --keep-going -n -q -j 2 docs docs/_build/html
	$(BIN)/python docs/check_site.py docs/_build/html

# Wheel and sdist in dist/. The wheel is built from the sdist; both are installed where nothing else is, and a user's program
# runs there and is type-checked there.
CLEAN := $(abspath $(VENV))/clean
dist: $(VENV)/.test-ready
	rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/python -m venv --clear $(CLEAN)
	$(CLEAN)/bin/python -m pip install --quiet dist/sidecut-*.whl
	$(CLEAN)/bin/python tests/release/typed_use.py
	$(BIN)/mypy --strict --config-file= --python-executable $(CLEAN)/bin/python tests/release/typed_use.py
	$(CLEAN)/bin/python -m pip install --quiet --force-reinstall --no-deps dist/sidecut-*.tar.gz
	$(CLEAN)/bin/python tests/release/typed_use.py

# All figures of the pages in one go, and the pages from them: about an hour and a half on two idle cores. DATA is a folder of .npz files.
# ONLY="scaling selection" names some; QUICK=1 shows all of it in minutes, with results and pages in .evidence/quick.
evidence: $(VENV)/.test-ready
	env -u OMP_NUM_THREADS $(BIN)/python -m benchmarks.evidence $(if $(QUICK),--quick) $(if $(DATA),--data $(DATA)) \
	  $(if $(ONLY),--only $(ONLY)) $(if $(HOURS),--hours $(HOURS))

# Other people's packages on the same work, each in its own environment under .peers.
peers: $(VENV)/.test-ready
	nice $(BIN)/python -m benchmarks.quality.peers $(if $(DATA),--data $(DATA))

# The experiments of the five papers, then their figures and pages in docs/lab/papers. DATA is a folder of .npz files;
# OPTIONS such as "--quick --jobs 4" or "--only csp". What is finished is not run again; quick runs write elsewhere.
papers: $(VENV)/.test-ready
	$(BIN)/python -m benchmarks.papers $(if $(DATA),--data $(DATA)) $(OPTIONS)
	$(BIN)/python -m benchmarks.papers.report $(filter --quick,$(OPTIONS))

format: $(VENV)/.test-ready
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf docs/_build docs/gallery docs/reference
	rm -rf $(VENV) demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.demo-ready: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e ".[cli]"
	touch $@

$(VENV)/.test-ready: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e ".[test]"
	$(BIN)/python -m pip install --quiet --no-deps "bertopic>=0.17"
	touch $@ $(VENV)/.demo-ready

$(VENV)/.docs-ready: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e ".[docs]"
	$(BIN)/python -m pip install --quiet --no-deps "bertopic>=0.17"
	touch $@ $(VENV)/.demo-ready
