#!/usr/bin/env bash
# Checks the subjects of commits: "area: verb what", at most 72 characters, no final period.
#
#   scripts/check-subjects.sh          checks the commits since this script was added
#   scripts/check-subjects.sh RANGE    checks a range, such as origin/main..
#
# Merges and reverts created by git are not checked.
set -euo pipefail
cd "$(dirname "$0")/.."

git rev-parse --git-dir >/dev/null 2>&1 || { echo 'this is not a git repository: nothing to check'; exit 0; }
range=${1-}
if [ -z "$range" ]; then
  range=$(git log --diff-filter=A --format=%H -- scripts/check-subjects.sh | tail -n 1)..HEAD
fi
subject='^[a-z0-9][a-z0-9 ,./_-]*: [A-Za-z][^ ]* .*[^.]$'
status=0
while read -r commit line; do
  [[ $line == 'Revert "'* ]] && continue
  if ((${#line} > 72)); then
    echo "$commit: ${#line} characters, at most 72: $line"
    status=1
  elif ! [[ $line =~ $subject ]]; then
    echo "$commit: not \"area: verb what\": $line"
    status=1
  fi
done < <(git log --no-merges --format='%h %s' "$range")
exit "$status"
