#!/bin/sh
# Generates Python from the contract into this directory, or into the one named:
# with protoc and its plugin where they are installed, else with grpcio-tools.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}
cd "$here/../../proto"
if plugin=$(command -v grpc_python_plugin); then
  set -- protoc --plugin=protoc-gen-grpc_python="$plugin"
else
  set -- "${PYTHON:-python3}" -m grpc_tools.protoc
fi
"$@" -I . --python_out="$out" --grpc_python_out="$out" gridstand/v1/*.proto
