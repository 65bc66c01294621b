.PHONY: test ci oracle fuzz bench

test: ; go test ./...
ci: ; .ci/run
oracle: ; CLEW_LONG=1 go test -timeout 5h -v -run 'Oracle|EverySmall|RandomHistories' . ./fastpath
fuzz: ; go test -fuzz FuzzReader -fuzztime 60s ./edn && go test -fuzz FuzzParse -fuzztime 60s ./edn
bench: ; go test -run '^$$' -bench . -benchmem ./...
