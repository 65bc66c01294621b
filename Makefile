PREFIX ?= /usr/local
to = $(DESTDIR)$(PREFIX)
share = $(to)/share
# The tools are a module of their own; they run from this folder.
tool = go build -C tools -o ../bin/ ./$(1) && bin/$(1)

.PHONY: test ci systems install release c python wasm npm try coverage oracle campaign fuzz mutants bench benchmarks bench-search bench-crashes bench-clients bench-hitting bench-models bench-repeated bench-decided bench-porcupine pictures knossos shards module proof

test: ; go test ./...
ci: ; .ci/run
systems: # whether everything compiles on the other systems, tests too
	for system in darwin windows; do GOOS=$$system go vet ./... && GOOS=$$system go -C tools vet ./... || exit 1; done
install: # the program, its man page, and completions; PREFIX= and DESTDIR= say where
	umask 022 && mkdir -p "$(to)/bin" "$(share)/man/man1" "$(share)/bash-completion/completions" "$(share)/zsh/site-functions" "$(share)/fish/vendor_completions.d"
	umask 022 && go build -tags urfave_cli_no_docs -o "$(to)/bin/clew" ./cmd/clew
	umask 022 && "$(to)/bin/clew" man > "$(share)/man/man1/clew.1"
	umask 022 && "$(to)/bin/clew" completion bash > "$(share)/bash-completion/completions/clew"
	umask 022 && "$(to)/bin/clew" completion zsh > "$(share)/zsh/site-functions/_clew"
	umask 022 && "$(to)/bin/clew" completion fish > "$(share)/fish/vendor_completions.d/clew.fish"
# PATH= is the new path here, and the recipe's commands still need the old one. Make
# takes the environment's PATH where a variable would need itself to run the shell.
ifeq ($(origin PATH),command line)
path := $(PATH)
override PATH = $(shell printf %s "$$PATH")
endif
# What the system calls a library.
library = $(or $(and $(filter darwin,$(shell go env GOOS)),libclew.dylib),$(and $(filter windows,$(shell go env GOOS)),clew.dll),libclew.so)
c: # clew as a library for C, and for what is built on it, in bin/: docs/c.md
	go build -tags library -buildmode c-shared -ldflags '-s -w' -o bin/$(library) ./packages/c
	go build -tags library -buildmode c-archive -ldflags '-s -w' -o bin/libclew.a ./packages/c
	rm -f bin/libclew.h && cp packages/c/clew.h bin/
python: c # a wheel in bin/: docs/python.md
	$(call tool,release) -licenses bin/THIRD_PARTY_LICENSES.txt
	python3 packages/python/backend.py bin
module: # renames the module, in its modules, imports and docs: make module PATH=example.com/x/clew
	$(call tool,module) "$(path)"
proof: ; $(MAKE) -C proof # clew-proof, the checker of certificates that is proved: docs/proof.md
release: # what is published, in dist/: docs/release.md
	rm -rf dist
	$(call tool,release) -o dist $(if $(URL),-url "$(URL)")
coverage:
	go test -short -coverprofile=coverage.out -coverpkg=./... ./... > /dev/null
	go tool cover -func=coverage.out | tail -1
oracle: ; CLEW_LONG=1 go test -timeout 5h -v . ./internal/tests/... ./internal/engines/... ./fastpath/... ./internal/families/...
campaign: ; $(call tool,campaign) -minutes $(or $(MINUTES),3) -log campaign.jsonl $(ARGS)
shards: ; CLEW_LONG=1 go test -timeout 5h -v -run 'Shard' ./cmd/clew
fuzz: ; $(call tool,fuzzing) $(if $(MINUTES),-minutes $(MINUTES) -log fuzz.jsonl) $(ARGS)
mutants: ; $(call tool,mutants) $(ARGS)
bench: ; @$(call tool,bench) speed $(ARGS)
benchmarks: ; go test -run '^$$' -bench . -benchmem ./internal/tests/verdicts ./edn/... ./jepsen/... ./internal/engines/... ./fastpath/... ./internal/families/...
bench-search: ; $(call tool,bench) search $(ARGS)
bench-crashes: ; $(call tool,bench) crashes -limit 30s $(ARGS)
bench-clients: ; $(call tool,bench) clients -limit 20s $(ARGS)
bench-hitting: ; $(call tool,bench) hitting $(ARGS)
bench-models: ; $(call tool,bench) models -limit 20s $(ARGS)
bench-repeated: ; $(call tool,bench) repeated -limit 20s $(ARGS)
bench-decided: ; $(call tool,bench) decided -limit 20s $(ARGS)
bench-porcupine: ; $(call tool,bench) porcupine $(ARGS)
wasm: ; $(call tool,wasm) -o bin # clew.wasm and clew-cli.wasm, and what loads them
try: ; $(call tool,wasm) -page -o bin/try # the page that checks what is dropped on it: docs/try
npm: # the package for JavaScript, in dist/
	$(call tool,wasm) -o packages/js
	cp LICENSE packages/js/
	mkdir -p dist && cd packages/js && npm pack --pack-destination ../../dist
pictures: ; $(call tool,pictures)
knossos:
	go build -o bin/clew ./cmd/clew
	CLEW=bin/clew KNOSSOS_CLASSPATH="$(KNOSSOS_CLASSPATH)" MAIN=clew.knossos-test jepsen/clojure/test/run $(ARGS)
