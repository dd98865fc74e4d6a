#!/usr/bin/env bash
# Writes the registry's current digest of each image to images.env. Needs Docker and access
# to the registry. Review the difference and run `make compose-try` before you commit it.
set -euo pipefail
cd "$(dirname "$0")/.."

for image in $(sed -En 's/^[A-Z]+_IMAGE=([^@]+)@.*/\1/p' images.env); do
  docker pull --quiet "$image" >/dev/null
  digest=$(docker image inspect --format '{{range .RepoDigests}}{{println .}}{{end}}' "$image" |
    sed -n "s#^${image%%:*}@\(sha256:[0-9a-f]\{64\}\)\$#\1#p" | head -n 1)
  [ -n "$digest" ] || { echo "$image has no digest, because it does not come from a registry" >&2; exit 1; }
  sed -Ei "s#^([A-Z]+_IMAGE=$image)@.*#\1@$digest#" images.env
  echo "$image@$digest"
done
