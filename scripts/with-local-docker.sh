#!/usr/bin/env bash
# Runs a command with a private Docker daemon that needs no image registry and no network.
# The daemon stops with the command. The images that the compose files name are built
# from the programs installed on this machine.
#
#   scripts/with-local-docker.sh make compose-try
#
# Daemon, containers and command run in separate network, mount and process namespaces,
# so they use no port of the machine and leave nothing behind. The script exits with the
# command's exit code, or with 69 and a reason on standard error if this machine cannot
# run such a daemon.
#
# Needs root and a Debian with
#   apt-get install docker.io docker-compose iptables busybox-static redis-server redis-tools haproxy
# and Go. The images contain busybox and the installed versions of the programs, which may
# differ from their tags.
set -euo pipefail
(($# > 0)) || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"; exit 2; }

cannot() {
  echo "$0: this machine cannot run a private Docker: $*" >&2
  exit 69
}

if [ -z "${GRIDSTAND_LOCAL_DOCKER:-}" ]; then
  ((EUID == 0)) || cannot 'you are not root'
  for program in dockerd docker docker-compose iptables busybox redis-server redis-cli haproxy go unshare; do
    command -v "$program" >/dev/null || cannot "$program is not installed"
  done
  # All modules, including those for other systems: the Dockerfile downloads all of them,
  # and the build has no network.
  go mod download || cannot 'modules of go.mod are missing and cannot be downloaded'
  apart=(unshare --net --mount --pid --fork --kill-child --mount-proc)
  "${apart[@]}" busybox ip link set lo up || cannot 'it cannot create namespaces'
  # Not /tmp, which may be in memory: the daemon needs about a gigabyte.
  home=$(mktemp -d -p "${TMPDIR:-/var/tmp}")
  trap 'rm -rf "$home"' EXIT
  status=0
  GRIDSTAND_LOCAL_DOCKER=$home "${apart[@]}" "$0" "$@" || status=$?
  exit "$status"
fi

home=$GRIDSTAND_LOCAL_DOCKER
busybox ip link set lo up
# Prefer the system's docker: another one on the PATH may lack buildx.
PATH=/usr/bin:$PATH
export DOCKER_HOST=unix://$home/socket DOCKER_CONFIG=$home DOCKER_BUILDKIT=1 COMPOSE_DOCKER_CLI_BUILD=1
# There is no network; Go finds everything in its caches.
export GOPROXY=off

daemon=
finish() {
  if [ -n "$daemon" ]; then
    kill "$daemon" 2>/dev/null || true
    wait "$daemon" || true
  fi
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

dockerd --data-root "$home/data" --exec-root "$home/exec" -H "$DOCKER_HOST" -p "$home/pid" \
  >"$home/log" 2>&1 &
daemon=$!
for ((i = 0; ; i++)); do
  docker info >/dev/null 2>&1 && break
  if ((i == 300)) || ! kill -0 "$daemon" 2>/dev/null; then
    tail -n 20 "$home/log" >&2
    cannot 'dockerd did not start'
  fi
  sleep 0.2
done

# program DIR NAME…: copies programs and the shared libraries that they need.
program() {
  local dir=$1 name file library
  shift
  for name; do
    file=$(readlink -f "$(command -v "$name")")
    cp "$file" "$dir/usr/bin/$name"
    for library in $(ldd "$file" 2>/dev/null | grep -o '/[^ ]*'); do
      mkdir -p "$dir$(dirname "$library")"
      cp -L "$library" "$dir$library"
    done
  done
}

# userland DIR: creates the few files that every image needs.
userland() {
  mkdir -p "$1"/{bin,usr/bin,etc/ssl/certs,tmp,root}
  chmod 1777 "$1/tmp"
  program "$1" busybox
  ln -s ../usr/bin/busybox "$1/bin/sh"
  ln -s ../usr/bin/busybox "$1/bin/cat"
  printf '%s\n' 'root:x:0:0::/root:/bin/sh' redis:x:999:999::/data:/bin/sh haproxy:x:99:99::/:/bin/sh >"$1/etc/passwd"
  cp /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/"
}

# modules DIR: copies the modules of go.mod from the module cache.
modules() {
  local downloaded
  downloaded=$(go env GOMODCACHE)/cache/download
  GOMODCACHE=$1 GOPROXY=file://$downloaded GOFLAGS=-modcacherw go mod download
}

# compiled DIR: copies the compiled packages that the Dockerfile needs from the build
# cache. A build ID begins with the package's action ID in that cache: 15 bytes, base64
# in the build ID and hexadecimal in the cache.
compiled() (
  mapfile -t actions < <(
    CGO_ENABLED=0 go list -deps -export -trimpath -buildvcs=false -f '{{.BuildID}}' ./cmd/gridstand-server |
      grep / | cut -d / -f 1 | basenc --base64url -d -i | basenc --base16 -w 30 | tr A-F a-f
  )
  mkdir -p "$1"
  cd "$(go env GOCACHE)"
  shopt -s nullglob
  entries=()
  for action in "${actions[@]}"; do
    entries+=("${action:0:2}/$action"*-a)
  done
  mapfile -t outputs < <(awk '{ print substr($3, 1, 2) "/" $3 "-d" }' "${entries[@]}" /dev/null)
  cp --parents -t "$1" "${entries[@]}" "${outputs[@]}"
)

# image DIR TAG CHANGE…: creates an image from a directory.
image() {
  local dir=$1 tag=$2 changes=() change
  shift 2
  for change; do changes+=(-c "$change"); done
  tar -C "$dir" -c . | docker import "${changes[@]}" - "$tag" >/dev/null
  echo "stand-in $tag"
  rm -rf "$dir"
}

box=$home/box
userland "$box"
mkdir -p "$box"/{usr/local,go}
cp -a "$(go env GOROOT)" "$box/usr/local/go"
modules "$box/modules"
compiled "$box/compiled"
# The caches are outside the Dockerfile's cache mounts.
image "$box" golang:1.26 'WORKDIR /go' \
  'ENV PATH=/go/bin:/usr/local/go/bin:/usr/bin:/bin GOPATH=/go GOTOOLCHAIN=local' \
  'ENV GOMODCACHE=/modules GOCACHE=/compiled GOPROXY=off'

userland "$box"
program "$box" redis-server redis-cli
mkdir "$box/data"
chown 999:999 "$box/data"
image "$box" redis:8 'WORKDIR /data' 'EXPOSE 6379' 'CMD ["redis-server"]'

userland "$box"
program "$box" haproxy
image "$box" haproxy:3.2 'USER 99:99' \
  'CMD ["haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]'

# If this machine cannot run containers with a network and a port, that is not a failure
# of the command.
docker network create try >/dev/null || cannot 'Docker cannot create networks'
docker run -d --name try-redis --network try --read-only --cap-drop ALL --user 999:999 -p 127.0.0.1:6379:6379 \
  redis:8 redis-server --protected-mode no --save '' >/dev/null || cannot 'Docker cannot run containers'
for ((i = 0; ; i++)); do
  [ "$(timeout 5 redis-cli ping 2>/dev/null)" = PONG ] && break
  ((i < 100)) || { docker logs try-redis >&2; cannot 'a published port does not answer'; }
  sleep 0.2
done
docker rm -f try-redis >/dev/null
docker network rm try >/dev/null

"$@"
