#!/usr/bin/env bash
# Tries the compose stacks where that can be done: with the Docker that is here,
# if it can get the images, else with one of its own (scripts/with-local-docker.sh).
# Where neither can be had it says why, and succeeds. Once there is a Docker,
# whatever fails is a failure.
set -euo pipefail
cd "$(dirname "$0")/.."

# images: what the stacks are made from.
images() {
  sed -En 's/.*\$\{[A-Z]+_IMAGE:-([^}]+)\}$/\1/p' docker-compose.yml docker-compose.scale.yml
}

# usable: whether there is a Docker with Compose that can get them.
usable() {
  docker info >/dev/null 2>&1 || { echo 'no Docker is running here'; return 1; }
  scripts/compose.sh version >/dev/null 2>&1 || { echo 'Docker is here, but Compose is not'; return 1; }
  local image
  for image in $(images); do
    docker image inspect "$image" >/dev/null 2>&1 || timeout 600 docker pull -q "$image" ||
      { echo "the Docker that is here cannot get $image"; return 1; }
  done
}

if usable; then
  exec make compose-try
fi
echo 'so with one of its own'
status=0
scripts/with-local-docker.sh make compose-try || status=$?
if ((status == 69)); then
  echo 'NOT TRIED: the compose stacks cannot be brought up on this machine, for the reason above'
  exit 0
fi
exit "$status"
