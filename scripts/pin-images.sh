#!/usr/bin/env bash
# Pins the images of Dockerfile and compose files to their registry's current digests:
# name:tag, with or without a digest, becomes name:tag@sha256:…. Needs Docker and access
# to the registry. Review the difference and run `make compose-try` before you commit it.
set -euo pipefail
cd "$(dirname "$0")/.."

files=(Dockerfile docker-compose.yml docker-compose.scale.yml docker-compose.ssh.yml)
for image in golang:1.26 redis:8 haproxy:3.2; do
  docker pull --quiet "$image" >/dev/null
  digest=$(docker image inspect --format '{{range .RepoDigests}}{{println .}}{{end}}' "$image" |
    sed -n "s/^${image%%:*}@\(sha256:[0-9a-f]\{64\}\)$/\1/p" | head -n 1)
  [ -n "$digest" ] || { echo "$image has no digest, because it does not come from a registry" >&2; exit 1; }
  grep -Eq "[^/[:alnum:]]$image(@|\}|\$)" "${files[@]}" || { echo "no file names $image" >&2; exit 1; }
  sed -Ei "s#([^/[:alnum:]]$image)(@sha256:[0-9a-f]{64})?(\}|\$)#\1@$digest\3#" "${files[@]}"
  echo "$image@$digest"
done
