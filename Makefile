# `make` lists the targets. .ci/run runs the same targets in a fresh clone, so that CI
# and a developer's machine run the same checks.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

MODULE := github.com/gridstand/gridstand

# Pinned tools. npm installs buf as a binary. The generators are tools of go.mod, so their
# versions always match the runtime's.
BUF := npx --yes @bufbuild/buf@1.75.0
GOLANGCI_LINT := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GO_LICENSES := go run github.com/google/go-licenses@v1.6.0
TSC := npx --yes -p typescript@7.0.2 tsc
BIOME := npx --yes @biomejs/biome@2.6.8
GOVULNCHECK_VERSION := v1.8.0
GORELEASER := go run github.com/goreleaser/goreleaser/v2@v2.16.0

# Allowed licenses of dependencies. They require only attribution or, for MPL, the
# publication of changes to the dependency's own files.
LICENSES := MIT,Apache-2.0,BSD-2-Clause,BSD-3-Clause,ISC,BSL-1.0,MPL-2.0,Unlicense

# Version and commit of the binaries. Without a tag, the version is that of the changelog.
RELEASE = $(shell sed -nE 's/^## \[([0-9][^]]*)\].*/v\1/p' CHANGELOG.md | head -n 1)
VERSION ?= $(shell git describe --tags --dirty --match 'v*' 2>/dev/null || echo $(RELEASE)-dev)
COMMIT ?= $(shell git rev-parse HEAD 2>/dev/null)
STAMP := -s -w -X $(MODULE)/internal/version.Version=$(VERSION) -X $(MODULE)/internal/version.Commit=$(COMMIT)

# Messages that must stay compatible: the contract with clients, and the log entries with
# stored games. Each entry is a module of buf.yaml and its accepted image.
ACCEPTED := proto=proto/accepted.binpb server/internal=server/internal/gamelog/v1/accepted.binpb

# The page's module with the words that the terminal uses, too.
SITE := server/internal/web/site
WORDS := $(SITE)/words.js
ASSETS := server/internal/web/assets

# Benchmarks to run, their packages, and the commit that bench-compare compares the working tree with.
BENCH ?= .
BENCHED := ./server/internal/test/bench ./game/...
BASE ?= HEAD~1

# The race detector makes the code about five times slower. SQLite, which is C translated
# to Go and manages its own memory, is built without the detector: with it, the tests of the
# store take seven times the processor time. Linking the test binaries without debug
# information saves a fifth of the time.
RACE_TIMEOUT ?= 40m
RACE = $$(go env GOFLAGS) -race -gcflags=modernc.org/...=-race=false -timeout=$(RACE_TIMEOUT) -ldflags=-w -vet=off

# The tests that go test ./... leaves out have the build tag slow. vet is off, because make lint
# runs it for them, too.
SLOW := go test -tags slow -vet=off -count=1

# Slow tests that attack servers. They run alone, because they compare the latency of other
# players' moves with the latency before.
FLOODS := Flood

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-23s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: bin/gridstand-server bin/gridstand ## Build both programs into bin/, statically, with version and commit

.PHONY: bin/gridstand-server bin/gridstand
bin/gridstand-server: PROGRAM := ./cmd/gridstand-server
bin/gridstand: PROGRAM := ./cmd/gridstand
bin/gridstand-server bin/gridstand:
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '$(STAMP)' -o $@ $(PROGRAM)

.PHONY: test
test: NEEDED := redis-server ssh-keygen systemd-analyze
test: list-missing ## Run the quick tests, and print what is missing for some of them
	go test ./...

# Programs without which tests are skipped. go test prints the reasons of skipped tests only with -v.
# A browser has several names.
NEEDED := chromium haproxy node npm npx prlimit python3 redis-server ssh ssh-keygen systemd-analyze tmux
BROWSERS := chromium chromium-browser google-chrome google-chrome-stable

.PHONY: list-missing
list-missing: ## Print which programs that tests need are missing
	@for program in $(NEEDED); do \
	  command -v $${program/chromium/$(BROWSERS)} >/dev/null || \
	    echo "$$program is not installed: the tests that need it are skipped"; \
	done

# Few tests run at a time, because many of these start several programs.
.PHONY: test-slow
test-slow: list-missing ## Run the slow tests, except floods, storm and kills
	names=$$(grep -rhoE --include='*_slow*_test.go' '^func Test\w+' . | cut -d ' ' -f 2 | paste -sd '|'); \
	$(SLOW) -run "^($$names)\$$" -skip '$(FLOODS)|^TestStorm' -p=2 -parallel=2 -timeout=1h ./...

.PHONY: contracts
contracts: NEEDED := python3 redis-server
contracts: list-missing ## Run the contracts of stores and of the API on a real Redis and a Redis Cluster, and from Python
	$(SLOW) ./server/internal/store/storetest -run '^Test(Redis|Cluster)$$'
	go test -vet=off -count=1 ./test/contract -store=redis
	go test -vet=off -count=1 ./test/contract -store=cluster
	$(SLOW) ./test/contract -run '^Test(StorageUnavailable|Python)'

.PHONY: journeys
journeys: NEEDED := chromium node ssh tmux
journeys: list-missing ## Walk through the page in a real Chromium, and the terminal program in tmux and over SSH
	$(SLOW) ./server/internal/web/sitetest
	$(SLOW) ./test/web -run '^TestJourney'
	$(SLOW) ./cmd/gridstand/internal/cli -run '^TestTerminal'

.PHONY: race
race: ## Run make test under the race detector (needs a C compiler), without vet
	CGO_ENABLED=1 GOFLAGS="$(RACE)" $(MAKE) test

.PHONY: race-faults
race-faults: ## Run make faults under the race detector
	CGO_ENABLED=1 GOFLAGS="$(RACE)" $(MAKE) faults

# Duration of each fuzz target in make fuzz.
FUZZTIME ?= 2s

.PHONY: fuzz
fuzz: export FUZZTIME := $(FUZZTIME)
fuzz: ## Fuzz every target for FUZZTIME; inputs that fail are saved in testdata/fuzz
	scripts/fuzz.sh

.PHONY: floods
floods: ## Attack servers, and print their memory and the latency of other players' moves
	$(SLOW) ./server/internal/test/fault -run '$(FLOODS)' -v -parallel=1 -timeout=1h

.PHONY: faults
faults: ## Run make storm, and the cheap tests of servers, stores and connections that fail
	$(SLOW) ./server/internal/test/fault -v -timeout 0 \
	  -run '^Test(Storm|Failover|Linearizable_Planted|Outage|ServerStopped(_HeldOpen)?)$$' -args -storm=$(STORM)

# Duration of make storm.
STORM ?= 10m

.PHONY: storm
storm: ## Inject random faults into servers, their stores and connections for STORM
	$(SLOW) ./server/internal/test/fault -run '^TestStorm$$' -v -timeout 0 -args -storm=$(STORM)

# Number of kills in make kills.
KILLS ?= 1000

.PHONY: kills
kills: ## Kill the only server of a file KILLS times while clients play, and one of two servers on a Redis
	$(SLOW) ./server/internal/test/fault -run '^TestStorm_(Kills|Takeover)$$' -v -timeout 0 -args -storm.kills=$(KILLS)

.PHONY: bench
bench: ## Run the benchmarks (needs redis-server; BENCH=Move selects)
	go test -tags slow -p 1 -run '^$$' -bench '$(BENCH)' -benchtime 3s -timeout 1h $(BENCHED)

.PHONY: bench-compare
bench-compare: ## Compare the benchmarks of two commits (BASE=HEAD~1; BENCH=Move selects)
	scripts/bench-compare.sh '$(BASE)' '$(BENCH)' $(BENCHED)

.PHONY: nightly
nightly: ## Run what CI leaves out, and print one table of figures (PARTS='kills bench' selects)
	scripts/nightly.sh $(PARTS)

.PHONY: check
check: ## Run everything that CI runs
	.ci/run --no-install

.PHONY: check-subjects
check-subjects: ## Check the subjects of commits: "area: verb what", at most 72 characters
	scripts/check-subjects.sh

.PHONY: lint
lint: ## Run golangci-lint, which also checks the import direction
	$(GOLANGCI_LINT) run --allow-parallel-runners

.PHONY: lint-web
lint-web: ## Check the types of the page and of the TypeScript example, and lint both and the CSS
	$(TSC) -p server/internal/web/jsconfig.json
	$(TSC) -p examples/typescript
	$(BIOME) lint --error-on-warnings

# mathutil has the three-clause BSD license, in a form that the tool does not recognize.
.PHONY: licenses
licenses: ## Fail if a dependency has a license that is not allowed
	$(GO_LICENSES) check ./... --include_tests --allowed_licenses=$(LICENSES) --ignore=modernc.org/mathutil

.PHONY: vulnerabilities
vulnerabilities: export GOVULNCHECK_VERSION := $(GOVULNCHECK_VERSION)
vulnerabilities: export VULNERABILITIES_UNCHECKED := $(VULNERABILITIES_UNCHECKED)
vulnerabilities: ## Fail on known vulnerabilities, or if their database is unreachable
	scripts/vulnerabilities.sh

.PHONY: fmt
fmt: ## Format Go, protocol buffers, JavaScript and CSS
	$(GOLANGCI_LINT) fmt
	$(BUF) format -w
	$(BIOME) check --write --linter-enabled=false

.PHONY: check-format
check-format: ## Fail if make fmt would change a file
	$(GOLANGCI_LINT) fmt -d
	$(BUF) format -d --exit-code
	$(BIOME) check --linter-enabled=false

.PHONY: check-tidy
check-tidy: ## Fail if go mod tidy would change a file
	go mod tidy -diff

.PHONY: generate
generate: ## Generate Go from the .proto files, and the page's words and minified files
	$(BUF) generate
	go run ./tools/page words.js >$(WORDS)
	scripts/minify.sh $(SITE) $(ASSETS)

.PHONY: check-generated
check-generated: ## Fail if make generate would change a file
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	sums() { (cd "$$1" && find . \( -name '*.pb.go' -o -name '*.connect.go' \) -not -path './.*' -exec sha256sum {} + | sort -k 2); }; \
	$(BUF) generate -o "$$fresh"; \
	go run ./tools/page words.js >"$$fresh/words.js"; \
	scripts/minify.sh $(SITE) "$$fresh/assets"; \
	{ diff <(sums .) <(sums "$$fresh") && diff $(WORDS) "$$fresh/words.js" && diff -rq $(ASSETS) "$$fresh/assets"; } || \
	  { echo 'generated code is not current: run make generate' >&2; exit 1; }

.PHONY: lint-contract
lint-contract: ## Lint the .proto files
	$(BUF) lint

.PHONY: breaking
breaking: ## Fail if a change to the .proto files would break a client or a stored game
	@for pair in $(ACCEPTED); do \
	  (set -x; $(BUF) breaking "$${pair%%=*}" --against "$${pair#*=}"); \
	done

.PHONY: contract-accept
contract-accept: ## Record the current .proto files as the contract that changes must not break
	@for pair in $(ACCEPTED); do \
	  (set -x; $(BUF) build "$${pair%%=*}" --exclude-source-info -o "$${pair#*=}"); \
	done

.PHONY: playthroughs
playthroughs: ## Record the games of every variant again
	go test ./game/variants -update

.PHONY: golden
golden: ## Record the expected screens, pictures and colors again
	go test $(addprefix ./cmd/gridstand/internal/tui/,app challenge lobby play watch) ./server/internal/web/picture -update
	$(SLOW) ./test/web -run '^TestScreens$$' -update

.PHONY: image
image: export VERSION := $(VERSION)
image: export COMMIT := $(COMMIT)
image: ## Build the server's container image, with version and commit
	scripts/compose.sh build server

# goreleaser runs this target.
.PHONY: release-extras
release-extras: build ## Write completions into bin/extras
	rm -rf bin/extras
	mkdir -p bin/extras/completions
	for program in gridstand gridstand-server; do \
	  for shell in bash zsh fish powershell; do \
	    bin/$$program completion $$shell >bin/extras/completions/$$program.$${shell/powershell/ps1}; \
	  done; \
	done

# The image needs docker buildx. Without it, only the rest is built.
.PHONY: snapshot
snapshot: export SNAPSHOT_VERSION := $(VERSION:v%=%)
snapshot: ## Build the release for all systems into dist/, without publishing it
	@skip=; docker buildx version >/dev/null 2>&1 || skip=--skip=docker; \
	(set -x; $(GORELEASER) release --snapshot --clean $$skip)

.PHONY: release
release: ## Publish the checked-out tag as a draft (needs GITHUB_TOKEN and docker buildx)
	set -a && . ./images.env && $(GORELEASER) release --clean

.PHONY: pin-images
pin-images: ## Write the registry's current digests of all images to images.env
	scripts/pin-images.sh

COMPOSE_TEST = CGO_ENABLED=0 $(SLOW) -trimpath -buildvcs=false -timeout 1h -v ./test/compose

.PHONY: compose-base
compose-base: ## Start docker-compose.yml, play through it, and look at its leaderboard in Redis
	$(COMPOSE_TEST) -run '^TestBase$$' -args -compose

.PHONY: compose-try
compose-try: bin/gridstand ## Start the compose stacks, play while containers are killed, stop them
	$(COMPOSE_TEST) -args -compose

.PHONY: compose-try-offline
compose-try-offline: ## Run compose-try without an image registry, with a private Docker and its own images
	scripts/with-local-docker.sh $(MAKE) compose-try

.PHONY: picture
picture: build ## Draw the README's pictures from real screens
	scripts/picture.sh docs
	mkdir -p docs/web
	$(SLOW) ./test/web -run '^TestPages$$' -args -pictures $(CURDIR)/docs/web

.PHONY: recording
recording: ## Record two newcomers who have only ssh (docs/newcomer.svg)
	rm -rf bin/recording
	$(SLOW) ./cmd/gridstand/internal/cli -run '^TestTerminal_SSH$$' -args -recording $(CURDIR)/bin/recording
	go run ./tools/screenshot -o docs/newcomer.svg -captions bin/recording/captions \
	  'ada: ssh play.example=bin/recording/ada' 'grace: ssh play.example=bin/recording/grace'

.PHONY: clean
clean: ## Remove the built programs and releases
	rm -rf bin dist
