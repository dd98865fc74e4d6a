#!/usr/bin/env bash
# Draws the README's pictures from real screens in tmux: a game of 2048 in one terminal,
# the same game watched in another, and Tribolo.
#
#   scripts/picture.sh docs
set -euo pipefail
cd "$(dirname "$0")/.."
out=$1
work=$(mktemp -d)
socket=gridstand-picture-$$
export GRIDSTAND_SERVER=localhost:${PICTURE_PORT:-2048} XDG_CONFIG_HOME=$work

bin/gridstand-server --store memory --listen "$GRIDSTAND_SERVER" 2>"$work/server.log" &
server=$!
trap 'tmux -L "$socket" kill-server 2>/dev/null || true; kill "$server"; wait "$server" || true; rm -rf "$work"' EXIT

# terminal NAME ARGUMENT…: runs the client in an 80×24 terminal with true colours. The
# terminal type has no erase commands, since tmux loses the background of erased cells.
terminal() {
  local name=$1
  shift
  tmux -L "$socket" -f /dev/null new-session -d -s "$name" -x 80 -y 24 \
    env -u TMUX TERM=vt220 COLORTERM=truecolor bin/gridstand "$@"
}
# shows NAME TEXT: waits until the terminal shows the text.
shows() {
  for _ in $(seq 200); do
    if tmux -L "$socket" capture-pane -t "$1" -p | grep -q -- "$2"; then return; fi
    sleep 0.05
  done
  echo "the $1's screen never showed: $2" >&2
  tmux -L "$socket" capture-pane -t "$1" -p >&2
  return 1
}

terminal player play --name ada
shows player 'SCORE'
# A few keys at a time, until the board is worth a picture.
until tmux -L "$socket" capture-pane -t player -p | grep -qE 'TILE *(128|256|512|1024)'; do
  tmux -L "$socket" send-keys -t player Left Down Left Down Right Down
  sleep 0.1
done
terminal spectator watch
shows spectator 'SCORE'
for key in Left Down Left Down Right Down Left Down; do
  tmux -L "$socket" send-keys -t player "$key"
  sleep 0.3
done
shows player '1 watching'
# Wait until changed tiles are no longer highlighted.
sleep 0.5
for name in player spectator; do
  tmux -L "$socket" capture-pane -e -p -N -t "$name" >"$work/$name.ansi"
done
go run ./tools/screenshot -o "$out/screen.svg" "gridstand play=$work/player.ansi" "gridstand watch=$work/spectator.ansi"

terminal tribolo play tribolo --seats me,greedy,minimax
tmux -L "$socket" kill-session -t spectator
tmux -L "$socket" kill-session -t player
shows tribolo 'places, best'
# Play the first legal move five times.
game=$(bin/gridstand games --mine --variant tribolo --json | grep -o '"id":"[a-z2-7]*"' | head -1 | cut -d'"' -f4)
for _ in $(seq 5); do
  shows tribolo 'Your turn'
  cell=$(bin/gridstand show "$game" --json | grep -o '"legalMoves":\[{"cell":{"x":[0-9]*,"y":[0-9]*' | grep -o '[0-9]*' | paste -sd, || true)
  bin/gridstand move "$game" "$cell" >/dev/null || true
  sleep 2
done
shows tribolo 'Your turn'
tmux -L "$socket" send-keys -t tribolo '?'
sleep 0.5
tmux -L "$socket" capture-pane -e -p -N -t tribolo >"$work/tribolo.ansi"
go run ./tools/screenshot -o "$out/tribolo.svg" "gridstand play tribolo=$work/tribolo.ansi"
