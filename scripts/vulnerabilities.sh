#!/usr/bin/env bash
# Looks for known vulnerabilities in the code that the programs call, in dependencies
# and in Go's standard library. It needs the database at https://vuln.go.dev (or
# GOVULNDB) and fails if it cannot check, unless VULNERABILITIES_UNCHECKED gives a
# reason, which it then prints. A vulnerability always fails.
set -euo pipefail
cd "$(dirname "$0")/.."

report=$(mktemp)
trap 'rm -f "$report"' EXIT
status=0
go run golang.org/x/vuln/cmd/govulncheck@"${GOVULNCHECK_VERSION:?}" -db "${GOVULNDB:-https://vuln.go.dev}" ./... >"$report" 2>&1 || status=$?
cat "$report"
if ((status == 0)); then
  exit 0
fi
if grep -q '^Vulnerability #' "$report"; then
  exit "$status"
fi
if [[ -n ${VULNERABILITIES_UNCHECKED-} ]] && grep -q 'fetching vulnerabilities' "$report"; then
  echo "NOT CHECKED: the database of vulnerabilities cannot be reached; passed because $VULNERABILITIES_UNCHECKED"
  exit 0
fi
echo 'NOT CHECKED, and that is a failure. If the database cannot be reached from here,' >&2
echo 'VULNERABILITIES_UNCHECKED="<why that may pass>" lets this pass.' >&2
exit 1
