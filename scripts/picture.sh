#!/usr/bin/env bash
# Draws the pictures of the README from real screens in tmux, using its own server.
#
#   scripts/picture.sh docs
set -euo pipefail
cd "$(dirname "$0")/.."
out=$1
work=$(mktemp -d)
socket=gridstand-picture-$$
export GRIDSTAND_SERVER=localhost:${PICTURE_PORT:-2048}

bin/gridstand-server --store memory --listen "$GRIDSTAND_SERVER" 2>"$work/server.log" &
pids=($!)
end() {
  tmux -L "$socket" kill-server 2>/dev/null || true
  pkill -P "$(IFS=,; echo "${pids[*]}")" || true # what loops in the background have started
  kill "${pids[@]}" 2>/dev/null || true
  wait || true
  rm -rf "$work"
}
trap end EXIT
# Otherwise, if another server has the port, the pictures would show its games.
until grep -qs 'msg=serving' "$work/server.log"; do
  kill -0 "${pids[0]}" 2>/dev/null || { cat "$work/server.log" >&2; echo "Set PICTURE_PORT to a free port." >&2; exit 1; }
  sleep 0.05
done

# named NAME: creates the account NAME unless it exists.
named() { XDG_CONFIG_HOME=$work/$1 bin/gridstand account new "$1" --json >/dev/null; }
# as NAME ARGUMENT…: runs the client with the account NAME.
as() {
  local name=$1
  shift
  named "$name"
  XDG_CONFIG_HOME=$work/$name bin/gridstand "$@"
}
# terminal SCREEN SIZE NAME ARGUMENT…: runs the client with the account NAME in a terminal
# with true color. The terminal type has no erase commands, because tmux loses the
# background of erased cells.
terminal() {
  local screen=$1 size=$2 name=$3
  shift 3
  named "$name"
  tmux -L "$socket" -f /dev/null new-session -d -s "$screen" -x "${size%x*}" -y "${size#*x}" \
    env -u TMUX TERM=vt220 COLORTERM=truecolor "XDG_CONFIG_HOME=$work/$name" bin/gridstand "$@"
}
# keys SCREEN KEY…: sends keys to the terminal.
keys() {
  local screen=$1
  shift
  tmux -L "$socket" send-keys -t "$screen" "$@"
}
# shows SCREEN PATTERN: waits until the terminal shows the pattern.
shows() {
  for _ in $(seq 400); do
    if screen "$1" | grep -qE -- "$2"; then return; fi
    sleep 0.05
  done
  echo "$1 never showed: $2" >&2
  screen "$1" >&2
  return 1
}
screen() { tmux -L "$socket" capture-pane -t "$1" -p; }
# slide SCREEN PATTERN: moves tiles until the terminal shows the pattern or the game ends.
slide() {
  until screen "$1" | grep -qE -- "$2|[Nn]o moves left"; do
    keys "$1" Left Down Left Down Right Down Left Up
    sleep 0.15
  done
}
# take SCREEN [SECONDS]: stores the screen, by default after the animation of the last move.
take() {
  sleep "${2:-1}"
  tmux -L "$socket" capture-pane -e -p -N -t "$1" >"$work/$1.ansi"
}
# picture FILE TITLE=SCREEN…: draws stored screens side by side.
picture() {
  local file=$1 titles=()
  shift
  for arg in "$@"; do titles+=("${arg%%=*}=$work/${arg#*=}.ansi"); done
  bin/screenshot -o "$out/$file.svg" "${titles[@]}"
}
# ids NAME games ARGUMENT…: prints the ids that `gridstand games` lists for the account NAME.
ids() {
  as "$@" --json | grep -oE '^\{"id":"[a-z2-7]+"' | cut -d'"' -f4
}
go build -o bin/screenshot ./tools/screenshot
# tmux exits with its last session, so keep one open.
tmux -L "$socket" -f /dev/null new-session -d sleep 600

# Finished games, for the leaderboard.
for name in grace barbara edsger radia; do
  terminal "$name-first" 80x24 "$name" play
done
for name in grace barbara edsger radia; do
  shows "$name-first" 'SCORE'
  case $name in grace) moves='1[5-9]|2' ;; barbara) moves='1[1-9]|2' ;; edsger) moves='9|1[0-9]' ;; *) moves='[6-9]|1[0-9]' ;; esac
  slide "$name-first" "MOVES *($moves)[0-9]"
  as "$name" resign "$(ids "$name" games --mine | head -1)" >/dev/null || true
  tmux -L "$socket" kill-session -t "$name-first"
done

# Live games of players and bots.
for game in 'grace classic' 'edsger 5x5' 'radia vt100'; do
  read -r name variant <<<"$game"
  while as "$name" bot expectimax "$(as "$name" new "$variant")"; do :; done >/dev/null 2>&1 &
  pids+=($!)
done
as linus new tribolo --seats greedy,minimax,original >/dev/null
as barbara new tribolo --seats me,open,minimax >/dev/null

# A game of 2048, and the same game watched.
terminal player 80x24 ada play
shows player 'SCORE'
slide player 'TILE *(64|128|256|512|1024)'
terminal spectator 80x24 grace watch @ada
shows spectator 'SCORE'
for key in Left Down Left Down Right Down Left Down; do
  keys player "$key"
  sleep 0.3
done
shows player '1 watching'

terminal lobby 120x36 ada
shows lobby 'grace'
until screen lobby | grep -qE '▸.*grace'; do
  keys lobby Down
  sleep 0.2
done
take lobby 2
picture lobby 'gridstand=lobby'

mapfile -t live < <(ids ada games --variant classic && ids ada games --variant 5x5 && ids ada games --variant tribolo)
terminal wall 120x36 ada watch "${live[@]:0:4}"
shows wall 'minimax'
take wall 3
picture wall 'gridstand watch, four games=wall'

# A race of two players and a bot, and a spectator of all three.
terminal racer 100x32 ada race --limit 5m --bot greedy
shows racer 'Roster'
race=$(screen racer | grep -oE '/c/[a-z2-7]{26}' | cut -c4-)
terminal rival 80x24 grace join "$race"
shows racer 'grace'
keys racer Enter
keys rival Enter
shows racer 'left'
terminal crowd 100x32 radia watch "$race"
for _ in $(seq 8); do
  for key in Left Down Left Down Right Down Left Down; do
    keys racer "$key"
    sleep 0.15
    keys rival "$([ "$key" = Right ] && echo Down || echo "$key")"
    sleep 0.15
  done
done
take racer
take crowd 0
picture race 'gridstand race=racer' 'gridstand watch=crowd'

# Tribolo: a few moves, then the targets of possible jumps.
terminal tribolo 80x24 ada play tribolo --seats me,greedy,minimax
shows tribolo 'Your turn'
game=$(ids ada games --mine --variant tribolo | head -1)
for _ in $(seq 5); do
  shows tribolo 'Your turn'
  cell=$(as ada show "$game" --json | grep -oE '"legalMoves":\[\{"cell":\{"x":[0-9]*,"y":[0-9]*' | grep -o '[0-9]*' | paste -sd, || true)
  as ada move "$game" "$cell" >/dev/null || true
  sleep 2
done
shows tribolo 'Your turn'
keys tribolo t
take tribolo
picture tribolo 'gridstand play tribolo=tribolo'
