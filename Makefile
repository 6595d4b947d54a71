# Two commands are all a newcomer needs: `make demo` and `make test`.
# Each makes its own .venv; nothing is asked for but Python 3.10 or newer, pip and make.

PYTHON ?= python3
VENV := .venv
BARE := .venv-bare
FRAMEWORKS := .venv-frameworks
UV := $(VENV)/bin/uv
INSTALL = $(UV) pip install --quiet --constraint constraints.txt
RESOLVE = $(UV) pip compile --quiet --universal --python-version 3.10 --no-header --no-annotate \
    --no-emit-package llmeval-integrations

# Tests start Python many times, and compiling all anew each time takes most of the minutes.
export PYTHONDONTWRITEBYTECODE :=

# Else uv would install into the environment of whoever has one activated.
unexport VIRTUAL_ENV CONDA_PREFIX

.PHONY: demo test test-fast coverage test-nightly test-trl test-spark check bench proof docs constraints clean

demo: $(VENV)/.installed
	$(VENV)/bin/llmeval demo

# Frameworks run beside the others, and their words come last.
test: $(VENV)/.tested $(BARE)/.installed $(FRAMEWORKS)/.installed
	$(FRAMEWORKS)/bin/python -m pytest -q tests/frameworks tests/llm/clients \
	    > $(FRAMEWORKS)/test.log 2>&1 & frameworks=$$!; \
	failed=0; \
	$(BARE)/bin/python -m pytest -q tests/test_package.py || failed=1; \
	$(VENV)/bin/python -m pytest -q -n 2 --dist worksteal || failed=1; \
	wait $$frameworks || failed=1; cat $(FRAMEWORKS)/test.log; exit $$failed

# The loop while one writes: the core, without what takes long, in under a minute.
FAST := core text json_values matching schemas fields tool_calls evaluators
test-fast: $(VENV)/.tested
	$(VENV)/bin/python -m pytest -q -n 2 -m 'not once and not nightly' \
	    $(wildcard $(FAST:%=tests/%)) tests/test_package.py

# Lines and branches that the suite runs, here and in the frameworks' environment; under 95 % fails.
COVER := -m pytest -q --cov --cov-report= --cov-fail-under=0
coverage: $(VENV)/.tested $(FRAMEWORKS)/.installed
	$(VENV)/bin/python $(COVER) -n 2 || true
	mv .coverage $(VENV)/coverage
	$(FRAMEWORKS)/bin/python $(COVER) tests/frameworks tests/llm/clients || true
	mv .coverage $(FRAMEWORKS)/coverage
	$(VENV)/bin/coverage combine --keep $(VENV)/coverage $(FRAMEWORKS)/coverage
	$(VENV)/bin/coverage report

# What is slow by nature: memory, simulations, clusters, a hundred thousand rows.
test-nightly: $(VENV)/.tested
	$(VENV)/bin/python -m pytest -q -m nightly

# Two steps of training by themselves, for PyTorch is larger than all else together.
test-trl: $(VENV)/bin/uv
	$(UV) venv --quiet --clear --python $(PYTHON) .venv-trl
	$(UV) pip install --quiet --python .venv-trl/bin/python --editable . --group trl
	.venv-trl/bin/python -m pytest -q tests/frameworks/test_trl.py

# Spark is half a gigabyte and needs Java.
test-spark: $(VENV)/bin/uv
	$(UV) venv --quiet --clear --python $(PYTHON) .venv-spark
	$(UV) pip install --quiet --python .venv-spark/bin/python --editable . --group spark
	.venv-spark/bin/python -m pytest -q tests/frameworks/test_tables.py

check: $(VENV)/.checked
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

bench: $(VENV)/.benched
	$(VENV)/bin/python benchmarks/bench.py
	(echo; $(VENV)/bin/python benchmarks/judging.py) >> benchmarks/RESULTS.md
	(printf '\n## Reading verdicts\n\n'; $(VENV)/bin/python benchmarks/verdicts.py) \
	    >> benchmarks/RESULTS.md
	(echo; $(VENV)/bin/python benchmarks/fields.py) >> benchmarks/RESULTS.md
	(echo; $(VENV)/bin/python benchmarks/runs.py) >> benchmarks/RESULTS.md
	(printf '\n## Tool calls\n\n'; $(VENV)/bin/python benchmarks/tool_calls.py) \
	    >> benchmarks/RESULTS.md
	$(VENV)/bin/python benchmarks/summary.py

# Our figures beside published ones, record by record; PROOF.md says where the files come from.
DATA ?= ../shared/data
proof: $(VENV)/.installed
	PYTHONPATH=benchmarks $(VENV)/bin/python -m proof $(DATA)

docs: $(VENV)/.docs
	$(VENV)/bin/sphinx-build --quiet --fail-on-warning --keep-going -d build/doctrees docs build/docs
	$(VENV)/bin/python docs/links.py build/docs

# Names and versions only: no address of an index, and good for every supported Python.
constraints: $(VENV)/bin/uv
	$(RESOLVE) --group check --group bench --group docs --extra all \
	    pyproject.toml --output-file constraints.txt
	$(RESOLVE) --group frameworks --extra litellm --extra llamaindex \
	    pyproject.toml --output-file constraints-frameworks.txt

clean:
	rm -rf $(VENV) .venv-* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache \
	    build docs/api docs/evaluators docs/notebooks

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

$(VENV)/.docs: $(VENV)/.tested
	$(INSTALL) --group docs
	@touch $@

# The second environment has no framework in it, so that an import that leaks is caught.
$(BARE)/.installed: $(VENV)/bin/uv pyproject.toml constraints.txt
	$(UV) venv --quiet --clear --python $(PYTHON) $(BARE)
	$(INSTALL) --python $(BARE)/bin/python --editable . --group bare
	@touch $@

# The third has frameworks that take older versions than the others bring.
$(FRAMEWORKS)/.installed: $(VENV)/bin/uv pyproject.toml constraints-frameworks.txt
	$(UV) venv --quiet --clear --python $(PYTHON) $(FRAMEWORKS)
	$(UV) pip install --quiet --constraint constraints-frameworks.txt \
	    --python $(FRAMEWORKS)/bin/python --editable '.[litellm,llamaindex]' --group frameworks
	@touch $@
