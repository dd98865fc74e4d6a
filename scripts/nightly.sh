#!/usr/bin/env bash
# Runs what CI leaves out, each part a target of the Makefile, and prints the parts' results and one
# table of figures. A part that fails does not stop the others. Figures do not fail: only wrong
# results do.
#
#   scripts/nightly.sh [PART…]     all parts by default
#
# Tests log a figure and what it is compared with as "figure: NAME | VALUE | CONTROL". The figures of
# benchmarks have no control: make bench-compare compares them.
set -uo pipefail
cd "$(dirname "$0")/.."

parts=("$@")
((${#parts[@]} > 0)) || parts=(test-slow floods kills storm fuzz bench snapshot compose)

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
for part in "${parts[@]}"; do
  printf '\n=== %s\n' "$part"
  start=$SECONDS result=ok
  case $part in
    compose) command=(scripts/with-docker.sh make compose-try) ;;
    fuzz) command=(make fuzz FUZZTIME=30s) ;;
    test-slow) command=(env GOFLAGS=-v make test-slow) ;; # so that tests that pass print their figures
    *) command=(make "$part") ;;
  esac
  "${command[@]}" 2>&1 | tee "$work/$part" || { result=FAILED status=1; }
  printf '| %s | %s | %d s |\n' "$part" "$result" "$((SECONDS - start))" >>"$work/results"
done

printf '\n| part | result | duration |\n|---|---|---|\n'
cat "$work/results"
printf '\n| figure | value | control |\n|---|---|---|\n'
for part in "${parts[@]}"; do
  sed -nE 's/.*figure: (.*)/| \1 |/p' "$work/$part"
  awk '/^Benchmark/ { row = "| " $1 " |"; for (i = 3; i < NF; i += 2) row = row " " $i " " $(i + 1) ";"; print row " | |" }' "$work/$part"
done
exit "$status"
