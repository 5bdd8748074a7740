# A thin wrapper around Meson. Each goal first installs what the machine lacks (tools/bootstrap), and prints the
# command before it does; where nothing is missing no packager is called, so only `make install` needs root.
# `make INSTALL=no GOAL` installs nothing and lists what is missing.

PREFIX ?= /usr/local
DESTDIR ?=
BUILD := build
TOOLS := build-python/tools/bin
INSTALL ?= yes
ifeq ($(filter yes no,$(INSTALL)),)
$(error INSTALL is $(INSTALL); it can be yes or no)
endif
export TRK_INSTALL := $(INSTALL)
# MAKEFLAGS would hand ninja and the tests a job server that they do not support.
unexport MAKEFLAGS MAKELEVEL

.PHONY: all demo unit test test-engines test-nightly bench lint coverage format r-package install docs packages clean help
.DEFAULT_GOAL := all

all: ## build build/resource-tracker and build/gpu-tracker
	@tools/bootstrap build
	@tools/bootstrap page || echo "The tracker is built without the report's page."
	@tools/build $(BUILD)

demo: all ## build, then track a small job and show what it used
	@tools/demo $(BUILD)/resource-tracker

unit: ## C unit tests alone; TEST=session runs one program, TEST=session:NAME the tests with that name
	@tools/bootstrap build
	@tools/build $(BUILD)
ifdef TEST
	@tools/unit_test $(BUILD) '$(TEST)'
else
	@meson test -C $(BUILD) --no-rebuild --print-errorlogs --suite unit
endif

test: ## every test that needs no server; the last line says how many passed and failed
	@tools/bootstrap build page browser checks test r
	@tools/test

test-engines: ## tests with real servers and other systems, in namespaces of their own (root)
	@tools/bootstrap build page checks test r engines packages
	@tools/test --layer engines

test-nightly: ## long runs: fuzzing, every fault, suites repeated while other processes use the CPUs
	@tools/bootstrap build page browser checks test r engines packages
	@tools/test --layer nightly

lint: all ## clang-tidy over the library and the command, and the checks of the source tree
	@tools/bootstrap browser checks
	@$(TOOLS)/python $(TOOLS)/run-clang-tidy.py -quiet -p $(BUILD) -clang-tidy-binary $(TOOLS)/clang-tidy \
		-warnings-as-errors='*' '/(src|cli)/([^/]*/){0,2}[^/]*\.c$$' > $(BUILD)/clang-tidy.log 2>&1 || \
		{ grep -A8 -E 'warning:|error:' $(BUILD)/clang-tidy.log || tail -n 20 $(BUILD)/clang-tidy.log; exit 1; }
	@! grep -q 'for 0 files' $(BUILD)/clang-tidy.log || { echo "clang-tidy found no source file" >&2; exit 1; }
	@$(TOOLS)/python -m pytest -q tests/checks

coverage: ## lines and branches that the unit tests run, in build-coverage/coverage.html
	@tools/bootstrap build checks
	@tools/build build-coverage -Db_coverage=true
	@meson test -C build-coverage --no-rebuild --quiet --suite unit
	@$(TOOLS)/gcovr --root . --filter src/ --filter cli/ --branches --print-summary \
		--html-details build-coverage/coverage.html build-coverage

bench: ## measure against the kernel's floor and the other trackers; writes docs/benchmarks.md and docs/accuracy.md
	@tools/bootstrap build page browser bench
	@tools/build build-bench -Dbuildtype=release -Dtests=false -Dbench=true
	@bench/run --build build-bench
	@bench/accuracy --build build-bench

r-package: ## make the R source package, build/resource.tracker_VERSION.tar.gz
	@tools/bootstrap build page r
	@tools/build $(BUILD)
	@tools/r_package

packages: ## make every package, in build-packages/dist
	@tools/bootstrap build page checks r packages
	@packaging/build all

install: all ## install below $(DESTDIR)$(PREFIX)
	@meson configure $(BUILD) -Dprefix='$(PREFIX)'
	@DESTDIR='$(DESTDIR)' meson install -C $(BUILD) --quiet >/dev/null

docs: all ## write docs/metrics.md again, which is generated from the catalogue
	@$(BUILD)/tools/gen_metrics > docs/metrics.md

format: ## format the C sources with clang-format
	@tools/bootstrap checks
	@git ls-files '*.c' '*.h' ':!bindings/r' | xargs $(TOOLS)/clang-format -i

clean: ## remove what was built
	rm -rf build build-*

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20
