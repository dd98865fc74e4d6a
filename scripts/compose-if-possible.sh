#!/usr/bin/env bash
# Tries the compose stacks with the installed Docker if it can get the images, else
# with a private Docker (scripts/with-local-docker.sh). If neither is possible, prints the
# reason and succeeds. Fails on any other error.
set -euo pipefail
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
  exec make compose-try
fi
echo 'trying with a private Docker'
status=0
scripts/with-local-docker.sh make compose-try || status=$?
if ((status == 69)); then
  echo 'NOT TRIED: this machine cannot start the compose stacks, for the reason above'
  exit 0
fi
exit "$status"
