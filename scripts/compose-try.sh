#!/usr/bin/env bash
# Brings the compose stack up under a name of its own and plays on it with the
# real client: a game is created and moved, the server's container replaced,
# Redis restarted, and the game must still be there, whole. Takes everything down
# again. Wants bin/gridstand (make bin/gridstand) and Docker with Compose. Several
# servers behind the proxy:
#   COMPOSE_FILE=docker-compose.yml:docker-compose.scale.yml scripts/compose-try.sh
set -euo pipefail
cd "$(dirname "$0")/.."

export COMPOSE_PROJECT_NAME=gridstand-try-$$
port=${TRY_PORT:-20480}
export GRIDSTAND_PORT=127.0.0.1:$port GRIDSTAND_SERVER=127.0.0.1:$port
home=$(mktemp -d)
export XDG_CONFIG_HOME=$home
client=bin/gridstand
compose() { scripts/compose.sh "$@"; }

finish() {
  local status=$?
  if ((status != 0)); then
    compose ps || true
    compose logs --tail 30 || true
  fi
  compose down -v --timeout 10 >/dev/null 2>&1 || true
  rm -rf "$home"
  if ((status == 0)); then echo 'compose stack: ok'; else echo 'compose stack: FAILED'; fi
}
trap finish EXIT
say() { printf -- '--- %s\n' "$*"; }

# eventually COMMAND…: tries it for a minute.
eventually() {
  for ((i = 0; i < 120; i++)); do
    "$@" 2>/dev/null && return
    sleep 0.5
  done
  echo "waited in vain: $*" >&2
  return 1
}

# healthy: whether the server's containers say so of themselves.
healthy() { # shellcheck disable=SC2046 # one word for each container
  [ "$(docker inspect -f '{{.State.Health.Status}}' $(compose ps -q server) | sort -u)" = healthy ]
}

# version GAME: how many events it has, as the server tells.
version() { $client show "$1" --json | grep -o '"version": *[0-9]*' | head -n 1 | grep -o '[0-9]*$'; }

# unchanged: whether the game is there as it was left.
unchanged() { [ "$(version "$game")" = "$before" ]; }

say 'up'
compose up -d --build
eventually healthy

say 'play'
game=$($client new classic --name compose)
for direction in left down right up left down right up; do
  # One that the board does not allow is refused, which is all right here.
  $client move "$game" "$direction" >/dev/null 2>&1 || true
done
before=$(version "$game")
((before > 1)) || { echo "no move was taken" >&2; exit 1; }
echo "game $game has version $before"

say 'replace the server'
compose up -d --force-recreate --no-deps server
eventually healthy
eventually unchanged

say 'restart Redis'
compose restart redis
eventually unchanged

say 'watch, and play to an end'
$client watch "$game" --from 0 --json >"$home/transcript" &
watcher=$!
$client resign "$game" >/dev/null
wait "$watcher"
$client verify - <"$home/transcript"
$client verify "$game"
