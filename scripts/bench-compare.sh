#!/usr/bin/env bash
# Runs the benchmarks on another commit and on the working tree alternately, so that other load on the
# machine affects both, and prints the significant differences. The server of both is measured by the
# working tree's benchmarks.
#
#   scripts/bench-compare.sh COMMIT BENCHMARKS PACKAGE…     ROUNDS=6 by default
set -euo pipefail
cd "$(dirname "$0")/.."
base=${1:?missing commit to compare with} bench=${2:?missing benchmarks} rounds=${ROUNDS:-6}
packages=("${@:3}")
suite=server/internal/test/bench

work=$(mktemp -d)
trap 'git worktree remove --force "$work/base" 2>/dev/null || true; rm -rf "$work"' EXIT
git worktree add --quiet --detach "$work/base" "$base"
rm -rf "${work:?}/base/$suite"
cp -r "$suite" "$work/base/$suite"

# run DIR NAME: runs one round and appends its results to a file.
run() {
  (cd "$1" && go test -tags slow -p 1 -run '^$' -bench "$bench" -benchtime 3s -timeout 1h "${packages[@]}") |
    tee >(cat >&2) | grep -E '^(goos|goarch|pkg|cpu|Benchmark)' >>"$work/$2.txt"
}
for ((i = 1; i <= rounds; i++)); do
  run "$work/base" before
  run . after
done
cd "$work" && go run golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da before.txt after.txt
