PREFIX ?= /usr/local
to = $(DESTDIR)$(PREFIX)
share = $(to)/share

.PHONY: test ci systems install release coverage oracle campaign fuzz mutants bench benchmarks bench-search bench-crashes bench-clients bench-hitting bench-models bench-repeated bench-porcupine pictures knossos shards

test: ; go test ./...
ci: ; .ci/run
systems: # whether everything compiles on the other systems, tests too
	for system in darwin windows; do GOOS=$$system go vet ./... || exit 1; done
install: # the program, its man page, and completions; PREFIX= and DESTDIR= say where
	umask 022 && mkdir -p "$(to)/bin" "$(share)/man/man1" "$(share)/bash-completion/completions" "$(share)/zsh/site-functions" "$(share)/fish/vendor_completions.d"
	umask 022 && go build -o "$(to)/bin/clew" ./cmd/clew
	umask 022 && "$(to)/bin/clew" man > "$(share)/man/man1/clew.1"
	umask 022 && "$(to)/bin/clew" completion bash > "$(share)/bash-completion/completions/clew"
	umask 022 && "$(to)/bin/clew" completion zsh > "$(share)/zsh/site-functions/_clew"
	umask 022 && "$(to)/bin/clew" completion fish > "$(share)/fish/vendor_completions.d/clew.fish"
release: # what is published, in dist/: docs/release.md
	rm -rf dist
	go run ./internal/release -o dist
coverage:
	go test -short -coverprofile=coverage.out -coverpkg=./... ./... > /dev/null
	go tool cover -func=coverage.out | tail -1
oracle: ; CLEW_LONG=1 go test -timeout 5h -v . ./fallback/... ./fastpath/...
campaign: ; go run ./internal/campaign/run -minutes $(or $(MINUTES),3) -log campaign.jsonl $(ARGS)
shards: ; CLEW_LONG=1 go test -timeout 5h -v -run 'Shard' ./cmd/clew
fuzz: ; go run ./internal/fuzzing/run $(if $(MINUTES),-minutes $(MINUTES) -log fuzz.jsonl) $(ARGS)
mutants: ; go run ./internal/mutants $(ARGS)
bench: ; @go run ./internal/bench speed $(ARGS)
benchmarks: ; go test -run '^$$' -bench . -benchmem . ./edn/... ./jepsen/... ./fallback/... ./fastpath/...
bench-search: ; go run ./internal/bench search $(ARGS)
bench-crashes: ; go run ./internal/bench crashes -limit 30s $(ARGS)
bench-clients: ; go run ./internal/bench clients -limit 20s $(ARGS)
bench-hitting: ; go run ./internal/bench hitting $(ARGS)
bench-models: ; go run ./internal/bench models -limit 20s $(ARGS)
bench-repeated: ; go run ./internal/bench repeated -limit 20s $(ARGS)
bench-porcupine: ; go run ./internal/bench porcupine $(ARGS)
pictures: ; go run ./internal/pictures
knossos:
	go build -o bin/clew ./cmd/clew
	CLEW=bin/clew KNOSSOS_CLASSPATH="$(KNOSSOS_CLASSPATH)" MAIN=clew.knossos-test jepsen/clojure/test/run $(ARGS)
