#!/usr/bin/env bash
# Fuzzes every target of the module for FUZZTIME, one after the other. What fails
# is kept in testdata/fuzz.
#
# Go before 1.27 may end a target whose time is up with "context deadline
# exceeded" though nothing failed (golang/go#75804): such a one is fuzzed again.
set -euo pipefail
cd "$(dirname "$0")/.."
exec </dev/null

output=$(mktemp)
trap 'rm -f "$output"' EXIT

# fuzz PACKAGE TARGET: fuzzes a target.
fuzz() {
  (set -x; go test "$1" -run '^$' -fuzz "^$2\$" -fuzztime "${FUZZTIME:?}") 2>&1 | tee "$output"
}

# only_late: whether that is all that a target failed with.
only_late() {
  grep -qx ' *context deadline exceeded' "$output" && ! grep -Eq 'Failing input|_test\.go:|^panic:|DATA RACE' "$output"
}

mapfile -t targets < <(grep -rHo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' . | sort)
((${#targets[@]} > 0))
for each in "${targets[@]}"; do
  for ((try = 1; ; try++)); do
    status=0
    fuzz "$(dirname "${each%%:*}")" "${each##*func }" || status=$?
    ((status != 0)) || break
    if ((try == 3)) || ! only_late; then exit "$status"; fi
    echo 'its time was up, and that is all: again'
  done
done
