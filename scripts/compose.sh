#!/usr/bin/env bash
# Docker Compose by whichever of its two names is installed.
set -euo pipefail
cd "$(dirname "$0")/.."
if docker compose version >/dev/null 2>&1; then
  exec docker compose "$@"
fi
exec docker-compose "$@"
