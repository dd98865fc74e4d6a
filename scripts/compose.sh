#!/usr/bin/env bash
# Runs Docker Compose by the name that is installed, of two.
set -euo pipefail
cd "$(dirname "$0")/.."
if docker compose version >/dev/null 2>&1; then
  exec docker compose "$@"
fi
exec docker-compose "$@"
