#!/usr/bin/env bash
# Brings the compose stack up under a name of its own and plays on it with the
# real client: a game is created and moved, the server's container replaced,
# Redis restarted, and the game must still be there, whole. Takes everything down
# again. Wants bin/gridstand (make bin/gridstand) and Docker with Compose.
set -euo pipefail
cd "$(dirname "$0")/.."

export COMPOSE_PROJECT_NAME=gridstand-try-$$
# Any free port of this machine, for nobody else.
export GRIDSTAND_PORT=127.0.0.1:
home=$(mktemp -d)
export XDG_CONFIG_HOME=$home
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

# client ARG…: the client against the server wherever its port is by now.
client() { bin/gridstand --server "$(compose port server 2048)" "$@"; }

# healthy: waits until the server's container says so of itself.
healthy() {
  local id
  for ((i = 0; i < 120; i++)); do
    id=$(compose ps -q server)
    [ "$(docker inspect -f '{{.State.Health.Status}}' "$id")" = healthy ] && return
    sleep 0.5
  done
  echo 'the server did not become healthy' >&2
  return 1
}

# version GAME: how many events it has, as the server tells.
version() { client show "$1" --json | grep -o '"version": *[0-9]*' | head -n 1 | grep -o '[0-9]*$'; }

say 'up'
compose up -d --build
healthy

say 'play'
game=$(client new classic --name compose --json | grep -o '"id": *"[a-z2-7]\{26\}"' | head -n 1 | grep -o '[a-z2-7]\{26\}')
for direction in left down right up left down right up; do
  # One that the board does not allow is refused, which is all right here.
  client move "$game" "$direction" >/dev/null 2>&1 || true
done
before=$(version "$game")
((before > 1)) || { echo "no move was taken" >&2; exit 1; }
echo "game $game has version $before"

say 'replace the server'
compose up -d --force-recreate --no-deps server
healthy
[ "$(version "$game")" = "$before" ]

say 'restart Redis'
compose restart redis
for ((i = 0; i < 60; i++)); do
  [ "$(version "$game" 2>/dev/null)" = "$before" ] && break
  sleep 0.5
done
[ "$(version "$game")" = "$before" ]

say 'watch, and play to an end'
client watch "$game" --from 0 --json >"$home/transcript" &
watcher=$!
client resign "$game" >/dev/null
wait "$watcher"
client verify - <"$home/transcript"
client verify "$game"
