#!/usr/bin/env bash
# Runs a command with a Docker of its own that needs no image registry: a daemon
# that lives as long as the command, and stand-ins for the images that the
# compose files name, packed from the programs installed here.
#
#   scripts/with-local-docker.sh scripts/compose-try.sh
#
# Wants root and a Debian with
#   apt-get install docker.io docker-compose iptables busybox-static redis-server haproxy
# and Go. The stand-ins carry the versions that are installed, whatever their
# tags say, and a busybox for a userland.
set -euo pipefail
(($# > 0)) || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"; exit 2; }

for program in dockerd busybox redis-server redis-cli haproxy go; do
  command -v "$program" >/dev/null || { echo "$0: $program is not installed" >&2; exit 1; }
done
# Another docker on the PATH may be a client without buildx.
PATH=/usr/bin:$PATH
home=$(mktemp -d)
export DOCKER_HOST=unix://$home/socket DOCKER_BUILDKIT=1 COMPOSE_DOCKER_CLI_BUILD=1

daemon=
finish() {
  if [ -n "$daemon" ]; then
    kill "$daemon" 2>/dev/null || true
    wait "$daemon" || true
  fi
  umount "$home"/exec/netns/* 2>/dev/null || true
  rm -rf "$home"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

dockerd --data-root "$home/data" --exec-root "$home/exec" -H "$DOCKER_HOST" -p "$home/pid" \
  >"$home/log" 2>&1 &
daemon=$!
for ((i = 0; ; i++)); do
  docker info >/dev/null 2>&1 && break
  if ((i == 150)) || ! kill -0 "$daemon" 2>/dev/null; then
    echo "$0: dockerd did not start" >&2
    tail -n 20 "$home/log" >&2
    exit 1
  fi
  sleep 0.2
done

# userland DIR: what any image has.
userland() {
  mkdir -p "$1"/{bin,usr/bin,etc/ssl/certs,tmp,root}
  chmod 1777 "$1/tmp"
  cp "$(command -v busybox)" "$1/bin/busybox"
  local applet
  for applet in $(busybox --list); do
    [ "$applet" = busybox ] || ln -s busybox "$1/bin/$applet"
  done
  echo 'root:x:0:0::/root:/bin/sh' >"$1/etc/passwd"
  cp /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/"
}

# program DIR NAME…: programs, and the libraries that they are linked to.
program() {
  local dir=$1 name file library
  shift
  for name; do
    file=$(readlink -f "$(command -v "$name")")
    cp "$file" "$dir/usr/bin/$name"
    for library in $(ldd "$file" | grep -o '/[^ ]*'); do
      mkdir -p "$dir$(dirname "$library")"
      cp -L "$library" "$dir$library"
    done
  done
}

# image DIR TAG CHANGE…: makes an image of a directory.
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
image "$box" golang:1.26 'WORKDIR /go' \
  'ENV PATH=/go/bin:/usr/local/go/bin:/usr/bin:/bin GOPATH=/go GOTOOLCHAIN=local'

userland "$box"
program "$box" redis-server redis-cli
mkdir "$box/data"
image "$box" redis:8 'WORKDIR /data' 'VOLUME /data' 'EXPOSE 6379' 'CMD ["redis-server"]'

userland "$box"
program "$box" haproxy
image "$box" haproxy:3.2 'CMD ["haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]'

"$@"
