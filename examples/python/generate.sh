#!/bin/sh
# Generates Python code from the contract into this directory or the given one. It uses protoc
# and its Python plugin if they are installed, otherwise grpcio-tools.
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
