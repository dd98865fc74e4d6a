#!/usr/bin/env bash
# Runs Docker Compose, as `docker compose` or docker-compose, whichever is installed.
set -euo pipefail
cd "$(dirname "$0")/.."
if docker compose version >/dev/null 2>&1; then
  exec docker compose "$@"
fi
exec docker-compose "$@"
