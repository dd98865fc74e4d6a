#!/usr/bin/env bash
# Runs a command with the installed Docker if it can get the images of the compose stacks, else
# with a private Docker (scripts/with-local-docker.sh).
#
#   scripts/with-docker.sh make compose-base
#
# Exits with the command's exit code, or with 69 and a reason on standard error if this machine
# has no usable Docker and cannot run a private one.
set -euo pipefail
(($# > 0)) || { sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$0"; exit 2; }
cd "$(dirname "$0")/.."

# images: lists the images that the stacks use.
images() {
  sed -En 's/.*\$\{[A-Z]+_IMAGE:-([^}]+)\}$/\1/p' docker-compose.yml docker-compose.scale.yml
}

# usable: succeeds if Docker and Compose are available and can get these images.
usable() {
  docker info >/dev/null 2>&1 || { echo 'no Docker is running'; return 1; }
  scripts/compose.sh version >/dev/null 2>&1 || { echo 'Docker is running, but Compose is not installed'; return 1; }
  local image
  for image in $(images); do
    docker image inspect "$image" >/dev/null 2>&1 || timeout 600 docker pull -q "$image" ||
      { echo "the installed Docker cannot get $image"; return 1; }
  done
}

if usable; then
  exec "$@"
fi
echo 'trying with a private Docker'
exec scripts/with-local-docker.sh "$@"
