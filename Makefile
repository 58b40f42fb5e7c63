# One makefile for everything: the compiler, its runtime library, the tests, the demonstration and the installation.
#
#   make                              build/fclc, and the libraries libfcl and libfclc
#   make WERROR=1                     the same, warnings are errors
#   make BUILD=build-asan SANITIZE=1  a second tree under ASan and UBSan
#   make check | demo | bench         tests, demonstration, benchmarks (bench-all: everything, for hours)
#   make check-all                    all tests that run before every change of main: 30 minutes on two cores
#   make dist                         the sources as an archive
#   make deb                          a Debian package, which dpkg -i or apt installs
#   make wheel                        the Python package as a file for pip
#   make docs                         the documents as pages, with a search and a page to play on
#                                     (wants clang, lld, wasi-libc, cmark-gfm)
#   make check-long                   those, too, that take too long for that: hours
#   make mutants                      small faults, one at a time: which do the tests notice? half an hour
#   make opencl2                      installs a second OpenCL, for the suite of that name
#   make sass                         installs what reads machine code of NVIDIA's GPUs, likewise
#   make install PREFIX=… DESTDIR=…   (what it installs finds its files by its own place)
#
# Sources are discovered, so a new file under compiler/, runtime/ or tests/unit/ needs no change here.

BUILD   ?= build
PREFIX  ?= /usr/local
DESTDIR ?=

ifeq ($(origin CC),default)
CC := gcc
endif
CXX     ?= g++
AR      ?= ar
RE2C    ?= re2c
BISON   ?= bison
INSTALL ?= install
PYTHON  ?= $(firstword $(wildcard /usr/bin/python3) python3)
CLANG_FORMAT ?= clang-format

OPTIMISE ?= -O2 -g
CFLAGS   ?= $(OPTIMISE)
# yyjson without what we do not use of it.
JSON_CPPFLAGS := -Ithird_party/yyjson -DYYJSON_DISABLE_UTILS=1 -DYYJSON_DISABLE_NON_STANDARD=1
FCL_CPPFLAGS := -Icompiler -Icompiler/driver -Iruntime -I$(BUILD)/gen $(JSON_CPPFLAGS) \
                -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE
# All objects may go into shared libraries, which show what the public headers declare.
FCL_CFLAGS   := -std=c11 -Wall -Wextra -Werror=switch -fPIC -fvisibility=hidden
FCL_LIBS     := -ldl -lm -lpthread

ifeq ($(WERROR),1)
FCL_CFLAGS += -Werror
endif
ifeq ($(SANITIZE),1)
SANITIZERS := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
FCL_CFLAGS  += $(SANITIZERS) -DFCL_VERIFY_EACH_PASS
FCL_LDFLAGS += $(SANITIZERS)
endif

# What an object depends on is written for both its names: some give BUILD in full, as setup.py does.
DEPENDS = -MMD -MP -MT $(patsubst $(CURDIR)/%,%,$@) -MT $(abspath $@)
COMPILE = $(CC) $(FCL_CPPFLAGS) $(CPPFLAGS) $(FCL_CFLAGS) $(CFLAGS) $(DEPENDS)
LINK    = $(CC) $(FCL_LDFLAGS) $(LDFLAGS)

# `make V=1` shows whole commands.
ifneq ($(V),1)
Q := @
say = @echo '  $(1)  $(2)'
endif

# ---------------------------------------------------------------- what there is

COMPILER_SOURCES := $(sort $(shell find compiler third_party -name '*.c' 2>/dev/null))
RUNTIME_SOURCES  := $(sort $(wildcard runtime/*.c))
LEXER            := $(wildcard compiler/syntax/lexer.re)
PARSER           := $(wildcard compiler/syntax/parser.y)
UNIT_SOURCES     := $(sort $(wildcard tests/unit/test_*.c))
UNIT_SHARED      := $(filter-out $(UNIT_SOURCES),$(sort $(wildcard tests/unit/*.c)))

EMBEDDED         := $(shell sed -n 's/^.include "\(.*\)\.inc"$$/\1/p' $(COMPILER_SOURCES))

GENERATED := $(if $(LEXER),$(BUILD)/gen/lexer.c) $(if $(PARSER),$(BUILD)/gen/parser.c)
GENERATED_HEADERS := $(if $(PARSER),$(BUILD)/gen/parser.h) $(EMBEDDED:%=$(BUILD)/gen/%.inc)

COMPILER_OBJECTS  := $(COMPILER_SOURCES:%.c=$(BUILD)/obj/%.o)
GENERATED_OBJECTS := $(GENERATED:$(BUILD)/gen/%.c=$(BUILD)/obj/gen/%.o)
RUNTIME_OBJECTS   := $(RUNTIME_SOURCES:%.c=$(BUILD)/obj/%.o)
MAIN_OBJECT       := $(BUILD)/obj/compiler/driver/main.o
ALL_OBJECTS       := $(COMPILER_OBJECTS) $(GENERATED_OBJECTS) $(RUNTIME_OBJECTS)
LIBRARY_OBJECTS   := $(filter-out $(MAIN_OBJECT),$(ALL_OBJECTS))
COMPILER_LIBRARY_OBJECTS := $(filter-out $(RUNTIME_OBJECTS),$(LIBRARY_OBJECTS))

RUNTIME_ABI  := 1
COMPILER_ABI := 0

UNIT_SHARED_OBJECTS := $(UNIT_SHARED:%.c=$(BUILD)/obj/%.o)
UNIT_PROGRAMS       := $(UNIT_SOURCES:tests/unit/%.c=$(BUILD)/tests/unit/%)

# `docs` is a folder, too.
.PHONY: all dist deb docs docs-need venv wheel unit-tests test-tools opencl2 sass check check-all check-long \
    ptx-processor mutants check-quick \
    demo bench bench-all install uninstall format format-check clean FORCE
.SECONDARY:
.DELETE_ON_ERROR:

# A sanitizer is the program's, not a library's.
SHARED := $(if $(SANITIZERS),,$(BUILD)/libfcl.so $(BUILD)/libfclc.so)

COMPLETIONS := $(BUILD)/completion/bash $(BUILD)/completion/zsh $(BUILD)/completion/fish

all: $(BUILD)/fclc $(BUILD)/libfcl.a $(SHARED) $(COMPLETIONS)

$(BUILD)/completion/%: $(BUILD)/fclc
	@mkdir -p $(@D)
	$(Q)$< --completion=$* > $@

# ---------------------------------------------------------------- compiler and runtime

$(BUILD)/fclc: $(ALL_OBJECTS)
	$(call say,LINK ,$@)
	$(Q)$(LINK) -o $@ $^ $(FCL_LIBS) $(LDLIBS)

$(BUILD)/libfcl.a: $(RUNTIME_OBJECTS)
	@rm -f $@
	$(call say,AR   ,$@)
	$(Q)$(AR) rcs $@ $^

# The runtime, and the compiler as a library on it. The number in the name changes when programs that were
# linked with it would no longer run.
$(BUILD)/libfcl.so.$(RUNTIME_ABI): $(RUNTIME_OBJECTS) runtime/libfcl.map
	$(call say,LINK ,$@)
	$(Q)$(LINK) -shared -Wl,-soname,$(@F) -Wl,--version-script=runtime/libfcl.map -Wl,--no-undefined -o $@ \
	    $(RUNTIME_OBJECTS) $(FCL_LIBS) $(LDLIBS)

$(BUILD)/libfclc.so.$(COMPILER_ABI): $(COMPILER_LIBRARY_OBJECTS) compiler/driver/libfclc.map $(BUILD)/libfcl.so
	$(call say,LINK ,$@)
	$(Q)$(LINK) -shared -Wl,-soname,$(@F) -Wl,--version-script=compiler/driver/libfclc.map -Wl,--no-undefined \
	    -Wl,-rpath,'$$ORIGIN' -o $@ $(COMPILER_LIBRARY_OBJECTS) -L$(BUILD) -lfcl $(FCL_LIBS) $(LDLIBS)

# Both together, for what is to need no other file.
$(BUILD)/libfclc.a: $(LIBRARY_OBJECTS)
	@rm -f $@
	$(call say,AR   ,$@)
	$(Q)$(AR) rcs $@ $^

$(BUILD)/libfcl.so: $(BUILD)/libfcl.so.$(RUNTIME_ABI)
	$(Q)ln -sfn $(<F) $@

$(BUILD)/libfclc.so: $(BUILD)/libfclc.so.$(COMPILER_ABI)
	$(Q)ln -sfn $(<F) $@

# Rewritten only when it would change; every object depends on it, so that another compiler or sanitiser rebuilds.
$(BUILD)/settings: FORCE
	@mkdir -p $(@D)
	@new=$@.$$$$; echo '$(CC) $(filter-out -Werror,$(FCL_CFLAGS)) $(CFLAGS) $(CPPFLAGS)' > $$new; \
	    cmp -s $$new $@ && rm $$new || mv $$new $@

$(BUILD)/obj/%.o: %.c $(BUILD)/settings | $(GENERATED_HEADERS)
	@mkdir -p $(@D)
	$(call say,CC   ,$@)
	$(Q)$(COMPILE) -c -o $@ $<

$(BUILD)/obj/gen/%.o: $(BUILD)/gen/%.c $(BUILD)/settings | $(GENERATED_HEADERS)
	@mkdir -p $(@D)
	$(call say,CC   ,$@)
	$(Q)$(COMPILE) -Icompiler/syntax -c -o $@ $<

$(BUILD)/gen/lexer.c: compiler/syntax/lexer.re
	@mkdir -p $(@D)
	$(call say,RE2C ,$@)
	$(Q)$(RE2C) -W -Werror --no-generation-date -o $@ $<

$(BUILD)/gen/parser.c $(BUILD)/gen/parser.h &: compiler/syntax/parser.y
	@mkdir -p $(@D)
	$(call say,BISON,$@)
	$(Q)$(BISON) -Werror --header=$(BUILD)/gen/parser.h -o $(BUILD)/gen/parser.c $<

# A file as a literal, which a .c file includes as a string. `\?` keeps `??/` and the like from being trigraphs.
$(BUILD)/gen/%.inc: %
	@mkdir -p $(@D)
	$(call say,EMBED,$@)
	$(Q)sed 's/[\\"?]/\\&/g; s/.*/"&\\n"/' $< > $@

# ---------------------------------------------------------------- tests

# Without the library the tests do without them.
unit-tests: $(if $(wildcard /usr/include/cmocka.h),$(UNIT_PROGRAMS))

$(BUILD)/tests/unit/%: $(BUILD)/obj/tests/unit/%.o $(UNIT_SHARED_OBJECTS) $(LIBRARY_OBJECTS)
	@mkdir -p $(@D)
	$(call say,LINK ,$@)
	$(Q)$(LINK) -o $@ $^ -lcmocka $(FCL_LIBS) $(LDLIBS)

# The CUDA simulator stands in for libcuda and libnvrtc; it is a test tool and is never installed.
CUDASIM_SOURCES := $(sort $(wildcard tests/cudasim/*.cc))
CUDASIM_HEADERS := $(wildcard tests/cudasim/*.h)

# Without a C++ compiler the tests do without it.
test-tools: $(if $(shell command -v $(CXX)),$(BUILD)/tests/libcudasim.so) $(BUILD)/tests/results

# Says what random programs give in the interpreter, for many arguments in one process.
$(BUILD)/tests/results: $(BUILD)/obj/tests/fuzz/results.o $(LIBRARY_OBJECTS)
	@mkdir -p $(@D)
	$(call say,LINK ,$@)
	$(Q)$(LINK) -o $@ $^ $(FCL_LIBS) $(LDLIBS)

$(BUILD)/tests/libcudasim.so: $(CUDASIM_SOURCES) $(CUDASIM_HEADERS)
	@mkdir -p $(@D)
	$(call say,CXX  ,$@)
	$(Q)$(CXX) -std=c++17 -Wall -Wextra -O2 -g -fPIC -shared \
	    -DCUDASIM_HEADER='"$(CURDIR)/tests/cudasim/cuda_sim.h"' -o $@ $(CUDASIM_SOURCES) -ldl

# A second OpenCL for the suite opencl2, Intel's for processors, from PyPI: 260 MB, 830 MB unpacked.
opencl2:
	@PYTHON='$(PYTHON)' sh tests/support/install-opencl2 $(BUILD)/opencl2

# NVIDIA's run-time compiler and disassembler for the suite sass, from PyPI: 96 MB, 250 MB unpacked.
sass:
	@PYTHON='$(PYTHON)' sh tests/support/install-sass $(BUILD)/sass

# A processor of PTX for the suite ptx, where its sources lie beside the checkout and NVIDIA's toolkit is installed.
CUDA_HOME ?= /usr/local/cuda
PTX_BUILD := $(if $(FCL_PTXEMU)$(if $(wildcard $(CUDA_HOME)/include/cuda.h),,none),,$(firstword \
               $(wildcard ../ptxemu/build.sh ../*/ptxemu/build.sh)))

ptx-processor: $(if $(PTX_BUILD),$(BUILD)/ptxemu/libcuda.so.1)

$(BUILD)/ptxemu/libcuda.so.1: $(PTX_BUILD) $(if $(PTX_BUILD),$(wildcard $(dir $(PTX_BUILD))src/*))
	$(call say,PTX  ,$@)
	$(Q)mkdir -p $(@D)
	$(Q)CUDA_HOME=$(CUDA_HOME) sh $< $(@D) >$(@D)/log 2>&1 || { cat $(@D)/log; exit 1; }

PARALLEL = $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc))

# Builds with warnings as errors and runs what tells most in ten minutes; ends with `N passed, N failed, N skipped`.
check:
	@$(MAKE) $(PARALLEL) --no-print-directory WERROR=1 all unit-tests test-tools
	@$(PYTHON) tests/support/check --build $(BUILD) --short

# Every suite, also on a second tree under sanitizers: in 30 minutes. check-long has every program on every
# executor, unoptimised, optimised and under oclgrind, and a million elements for every function of the prelude and the
# library: some hours.
check-all check-long:
	@$(MAKE) $(PARALLEL) --no-print-directory WERROR=1 all unit-tests test-tools ptx-processor
	@$(MAKE) $(PARALLEL) --no-print-directory WERROR=1 BUILD=build-asan SANITIZE=1 OPTIMISE='-O1 -g1' all unit-tests
	@$(PYTHON) tests/support/check --build $(BUILD) --sanitized build-asan $(if $(filter %-long,$@),--long)

# The normal build only, for the time between two edits. SUITE=name and CASE=pattern choose.
check-quick: all unit-tests test-tools
	@$(PYTHON) tests/support/check --build $(BUILD) $(if $(SUITE),--suite $(SUITE)) $(if $(CASE),--case '$(CASE)')

# Finds what the tests do not notice: tests/mutants/README.md.
mutants: all unit-tests test-tools
	@$(PYTHON) tests/mutants/run.py --jobs $(shell nproc)

demo: all
	@sh examples/demo $(BUILD)/fclc

bench: all
	@$(PYTHON) benchmarks/run --fclc $(BUILD)/fclc --save $(BUILD)/benchmarks/bench.json

# All tasks, of 2^16 to 2^26 elements, by both mappings: hours.
bench-all: all
	@$(PYTHON) benchmarks/run --fclc $(BUILD)/fclc --tasks all --sizes 2^16,2^20,2^24,2^26 --maps loop,simt \
	    --save $(BUILD)/benchmarks/bench-all.json

# ---------------------------------------------------------------- the Python package

VENV = $(BUILD)/venv

# A virtual environment with what the package's tests and `make wheel` want.
venv: $(VENV)/ready
$(VENV)/ready: tests/python/requirements.txt
	$(call say,VENV ,$(VENV))
	$(Q)$(PYTHON) -m venv $(VENV)
	$(Q)$(VENV)/bin/pip install -q --disable-pip-version-check -r $<
	$(Q)touch $@

# $(BUILD)/wheel/fcl-….whl: compiler, runtime and prelude in one file, for every Python from 3.11 on and every Linux
# with a C library as new as this one's.
wheel: $(VENV)/ready $(BUILD)/fclc $(BUILD)/libfclc.a
	$(Q)rm -rf $(BUILD)/wheel $(BUILD)/python/lib*
	$(Q)FCL_BUILD=$(BUILD) $(VENV)/bin/pip wheel -q --no-deps --no-build-isolation -w $(BUILD)/wheel/raw .
	$(Q)PATH=$(abspath $(VENV))/bin:$$PATH $(VENV)/bin/auditwheel repair -w $(BUILD)/wheel $(BUILD)/wheel/raw/*.whl
	$(Q)rm -r $(BUILD)/wheel/raw

# ---------------------------------------------------------------- the documents as pages

# The compiler as WebAssembly: what needs no machine behind it. web/wasm has the rest.
WASM_CC ?= clang
WASM_OPTIMISE ?= -O2
WASM := $(BUILD)/wasm$(WASM_OPTIMISE)
WASM_NOT := $(addprefix compiler/driver/,commands.c device.c evaluate.c interrupt.c library.c stack.c) \
            $(addprefix compiler/tools/,bench.c completion.c devices.c doc.c fmt.c line_editor.c \
              $(notdir $(wildcard compiler/tools/lsp*.c)) new.c repl.c test.c test_outcome.c test_worker.c tune.c) \
            compiler/host/execute.c compiler/values/inflate.c
WASM_SOURCES := $(filter-out $(WASM_NOT),$(COMPILER_SOURCES)) $(sort $(wildcard web/wasm/*.c))
WASM_OBJECTS := $(WASM_SOURCES:%.c=$(WASM)/%.o) \
                $(patsubst $(BUILD)/gen/%.c,$(WASM)/gen/%.o,$(GENERATED))
WASM_STACK := 16777216
WASM_CFLAGS := --target=wasm32-wasi -mllvm -wasm-enable-sjlj -mexception-handling -isystem web/wasm/include \
               -include browser.h -std=c11 $(WASM_OPTIMISE) -Wall -Wextra -Wno-unused-command-line-argument \
               -DFCL_STACK_BYTES=$(WASM_STACK)/4*3 -Icompiler/syntax

# The programs that make the pages, and the Debian package that has each.
DOCS_NEED := $(WASM_CC):clang wasm-ld:lld cmark-gfm:cmark-gfm /usr/include/wasm32-wasi/stdio.h:wasi-libc \
             /usr/lib/llvm-*/lib/clang/*/lib/wasi/libclang_rt.builtins-wasm32.a:libclang-rt-14-dev-wasm32
docs-need:
	@missing=; for need in $(DOCS_NEED); do \
	    set -- $${need%:*}; command -v "$$1" >/dev/null || [ -e "$$1" ] || missing="$$missing $${need##*:}"; done; \
	[ -z "$$missing" ] || { echo "make docs: please install$$missing (apt-get install$$missing)" >&2; exit 1; }

$(WASM)/%.o: %.c | $(GENERATED_HEADERS) docs-need
	@mkdir -p $(@D)
	$(call say,WASM ,$@)
	$(Q)$(WASM_CC) $(WASM_CFLAGS) $(FCL_CPPFLAGS) $(DEPENDS) -c -o $@ $<

$(WASM)/gen/%.o: $(BUILD)/gen/%.c | $(GENERATED_HEADERS) docs-need
	@mkdir -p $(@D)
	$(call say,WASM ,$@)
	$(Q)$(WASM_CC) $(WASM_CFLAGS) $(FCL_CPPFLAGS) $(DEPENDS) -c -o $@ $<

$(WASM)/fclc.wasm: $(WASM_OBJECTS)
	$(call say,LINK ,$@)
	$(Q)$(WASM_CC) --target=wasm32-wasi -Wl,-z,stack-size=$(WASM_STACK) -Wl,--strip-debug -o $@ $^ \
	    -lm -lc-printscan-long-double

# $(BUILD)/docs/index.html is where to begin.
docs: docs-need $(WASM)/fclc.wasm
	$(Q)$(PYTHON) web/pages.py --wasm $(WASM)/fclc.wasm --out $(BUILD)/docs
	@echo $(BUILD)/docs/index.html

# ---------------------------------------------------------------- formatting

FORMATTED = $(shell find compiler runtime python tests examples benchmarks web -path "*/parts" -prune -o \
              \( -name '*.c' -o -name '*.h' -o -name '*.cc' \) -print 2>/dev/null)

format:
	@if command -v $(CLANG_FORMAT) >/dev/null; then $(CLANG_FORMAT) -i $(FORMATTED); \
	else echo 'format: $(CLANG_FORMAT) is not installed, nothing done'; fi

format-check:
	@if command -v $(CLANG_FORMAT) >/dev/null; then \
	    bad=$$($(CLANG_FORMAT) --dry-run -Werror $(FORMATTED) 2>&1 | \
	        sed -n 's/^\([^: ]*\):[0-9]*:.*error.*/\1/p' | sort -u); \
	    if [ -n "$$bad" ]; then echo "not formatted (run make format):" $$bad; exit 1; fi; \
	else echo 'format-check: skipped, $(CLANG_FORMAT) is not installed'; fi

# ---------------------------------------------------------------- installation

VERSION := $(shell sed -n 's/^.define FCLC_VERSION "\(.*\)"/\1/p' compiler/driver/options.h)

# The options that fcl.h says.
C_OPTIONS = $(shell echo FCL_C_OPTIONS | $(CC) -E -P -Iruntime -include fcl.h - | tail -1 | tr -d '"' | tr -s ' ')
# $(call configure,NAME,FOLDER)
configure = sed 's/@VERSION@/$(VERSION)/; s/@C_OPTIONS@/$(C_OPTIONS)/' packaging/$(1).in > $(2)/$(1)

BINDIR  = $(DESTDIR)$(PREFIX)/bin
DATADIR = $(DESTDIR)$(PREFIX)/share/fcl
INCDIR  = $(DESTDIR)$(PREFIX)/include
LIBDIR  = $(DESTDIR)$(PREFIX)/lib
PKGDIR  = $(LIBDIR)/pkgconfig
CMAKEDIR = $(LIBDIR)/cmake/FCL
LIBRARY_FILES = libfcl.a libfcl.so libfcl.so.$(RUNTIME_ABI) libfclc.so libfclc.so.$(COMPILER_ABI)
MANDIR  = $(DESTDIR)$(PREFIX)/share/man
# Where bash, zsh and fish look.
COMPLETION_bash = $(DESTDIR)$(PREFIX)/share/bash-completion/completions/fclc
COMPLETION_zsh  = $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_fclc
COMPLETION_fish = $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/fclc.fish
DOCDIR  = $(DESTDIR)$(PREFIX)/share/doc/fcl

PRELUDE_FILES = $(wildcard prelude/*.fcl)
LIB_FILES     = $(wildcard lib/*.fcl)
# They are installed in the folders that they have here, so that links between them work; the prelude and the library
# are linked to.
DOC_FILES     = $(wildcard README.md LICENSE CHANGELOG.md docs/*.md docs/*.json docs/*.py man/*.? \
                  benchmarks/*.md benchmarks/results/LOG.md benchmarks/results/h200.svg benchmarks/cluster.py benchmarks/suites/*.fcl \
                  benchmarks/suites/*.py benchmarks/suites/data/README.md examples/README.md examples/demo \
                  examples/*/*.fcl examples/*/*.c examples/*/*.h examples/*/*.cu examples/*/*.py examples/*/Makefile) \
                $(shell find examples/host/* -type f -path '*/*/*/*') $(shell find editors -type f 2>/dev/null)

install: all
	$(Q)$(INSTALL) -d $(BINDIR) $(DATADIR)/prelude $(DATADIR)/lib $(INCDIR) $(PKGDIR) $(CMAKEDIR) $(DOCDIR)
	$(Q)$(INSTALL) -m 755 $(BUILD)/fclc $(BINDIR)/fclc
	$(Q)$(INSTALL) -m 644 runtime/fcl.h compiler/driver/fclc.h $(INCDIR)
	$(Q)$(INSTALL) -m 644 $(BUILD)/libfcl.a $(BUILD)/libfcl.so.$(RUNTIME_ABI) $(BUILD)/libfclc.so.$(COMPILER_ABI) $(LIBDIR)
	$(Q)ln -sfn libfcl.so.$(RUNTIME_ABI) $(LIBDIR)/libfcl.so
	$(Q)ln -sfn libfclc.so.$(COMPILER_ABI) $(LIBDIR)/libfclc.so
	$(Q)$(call configure,fcl.pc,$(PKGDIR))
	$(Q)$(call configure,fclc.pc,$(PKGDIR))
	$(Q)$(call configure,FCLConfig.cmake,$(CMAKEDIR))
	$(Q)$(call configure,FCLConfigVersion.cmake,$(CMAKEDIR))
	$(Q)for page in 1/fclc.1 3/fcl.3 5/fcl.5; do $(INSTALL) -D -m 644 man/$${page#*/} $(MANDIR)/man$$page || exit; done
	$(Q)$(INSTALL) -D -m 644 $(BUILD)/completion/bash $(COMPLETION_bash)
	$(Q)$(INSTALL) -D -m 644 $(BUILD)/completion/zsh $(COMPLETION_zsh)
	$(Q)$(INSTALL) -D -m 644 $(BUILD)/completion/fish $(COMPLETION_fish)
	$(if $(PRELUDE_FILES),$(Q)$(INSTALL) -m 644 $(PRELUDE_FILES) $(DATADIR)/prelude)
	$(if $(LIB_FILES),$(Q)$(INSTALL) -m 644 $(LIB_FILES) $(DATADIR)/lib)
	$(if $(DESTDIR),,$(if $(filter /usr /usr/local,$(PREFIX)),$(Q)ldconfig || true))
	$(Q)for file in $(DOC_FILES); do \
	    $(INSTALL) -D -m $$(test -x $$file && echo 755 || echo 644) $$file $(DOCDIR)/$$file || exit; done
	$(Q)for folder in prelude lib; do ln -sfn ../../fcl/$$folder $(DOCDIR)/$$folder || exit; done
	@echo 'fclc $(VERSION) is in $(DESTDIR)$(PREFIX): the command bin/fclc, libfcl and libfclc with their headers,' \
	    'man pages, and documents in share/doc/fcl. To begin: fclc new hello'

# $(BUILD)/fcl-VERSION.tar.gz: the sources as they are here, committed or not, with nothing that is built.
DIST = fcl-$(VERSION)
dist:
	$(Q)mkdir -p $(BUILD)
	$(Q)git ls-files -z --cached --others --exclude-standard --deduplicate | \
	    tar --null --files-from=- --ignore-failed-read --sort=name --transform='s|^|$(DIST)/|' -czf $(BUILD)/$(DIST).tar.gz
	@echo $(BUILD)/$(DIST).tar.gz

# $(BUILD)/fcl_VERSION_ARCHITECTURE.deb: what `make install` installs, as a Debian package.
DEB_ROOT = $(BUILD)/deb
DEB_ARCHITECTURE = $(shell dpkg --print-architecture)
# The time of the last change, so that the same sources make the same package.
DEB_TIME := $(shell git log -1 --format=%ct 2>/dev/null || date +%s)
DEB = $(BUILD)/fcl_$(VERSION)_$(DEB_ARCHITECTURE).deb

deb: all
	$(Q)rm -rf $(DEB_ROOT)
	$(Q)$(MAKE) --no-print-directory install PREFIX=/usr DESTDIR=$(abspath $(DEB_ROOT)) >/dev/null
	$(Q)SOURCE_DATE_EPOCH=$(DEB_TIME) sh packaging/make-deb $(DEB_ROOT) $(VERSION) $(DEB_ARCHITECTURE) $(DEB)
	@echo $(DEB)

uninstall:
	rm -f $(BINDIR)/fclc $(INCDIR)/fcl.h $(INCDIR)/fclc.h $(COMPLETION_bash) $(COMPLETION_zsh) $(COMPLETION_fish) \
	    $(MANDIR)/man1/fclc.1 $(MANDIR)/man3/fcl.3 $(MANDIR)/man5/fcl.5 $(addprefix $(LIBDIR)/,$(LIBRARY_FILES))
	rm -f $(PKGDIR)/fcl.pc $(PKGDIR)/fclc.pc
	rm -rf $(DATADIR) $(DOCDIR) $(CMAKEDIR)

clean:
	rm -rf $(BUILD) build-asan

-include $(WASM_OBJECTS:.o=.d) $(ALL_OBJECTS:.o=.d) $(UNIT_SOURCES:%.c=$(BUILD)/obj/%.d) $(UNIT_SHARED_OBJECTS:.o=.d) \
         $(BUILD)/obj/tests/fuzz/results.d
