# Two commands are all a newcomer needs: `make demo` and `make test`.
# Each makes its own .venv; nothing is asked for but Python 3.10 or newer, pip and make.

PYTHON ?= python3
VENV := .venv
BARE := .venv-bare
UV := $(VENV)/bin/uv
INSTALL = $(UV) pip install --quiet --constraint constraints.txt

.PHONY: demo test check bench constraints clean

demo: $(VENV)/.installed
	$(VENV)/bin/llmeval run llmeval_integrations/demo/eval.yaml --out runs/demo --overwrite

test: $(VENV)/.tested $(BARE)/.installed
	$(BARE)/bin/python -m pytest -q
	$(VENV)/bin/python -m pytest -q

check: $(VENV)/.checked
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

bench: $(VENV)/.benched
	$(VENV)/bin/python benchmarks/bench.py

# Names and versions only: no address of an index, and good for every supported Python.
constraints: $(VENV)/bin/uv
	$(UV) pip compile --quiet --universal --python-version 3.10 --no-header --no-annotate \
	    --all-extras --group check --group bench --no-emit-package llmeval-integrations \
	    pyproject.toml --output-file constraints.txt

clean:
	rm -rf $(VENV) $(BARE) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(VENV)/bin/uv:
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check uv

$(VENV)/.installed: $(VENV)/bin/uv pyproject.toml constraints.txt
	$(INSTALL) --editable .
	@touch $@

$(VENV)/.tested: $(VENV)/.installed
	$(INSTALL) --editable '.[all]' --group test
	@touch $@

$(VENV)/.checked: $(VENV)/.tested
	$(INSTALL) --group check
	@touch $@

$(VENV)/.benched: $(VENV)/.tested
	$(INSTALL) --group bench
	@touch $@

# The second environment has no framework in it, so that an import that leaks is caught.
$(BARE)/.installed: $(VENV)/bin/uv pyproject.toml constraints.txt
	$(UV) venv --quiet --clear --python $(PYTHON) $(BARE)
	$(INSTALL) --python $(BARE)/bin/python --editable . --group bare
	@touch $@
