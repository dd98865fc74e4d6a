#!/usr/bin/env bash
# Installs the programs that .ci/run and make nightly need and that this machine lacks, with apt.
# Needs root or sudo. Installs nothing if nothing is missing.
set -euo pipefail

missing=()
# need PACKAGE TEST…: notes a package as missing if the test fails.
need() {
  local package=$1
  shift
  "$@" >/dev/null 2>&1 || missing+=("$package")
}

need make command -v make
need git command -v git
need gcc command -v gcc
need libc6-dev test -e /usr/include/stdlib.h
need ca-certificates test -e /etc/ssl/certs/ca-certificates.crt
need curl command -v curl
# Stores, terminals, SSH, the page and the proxy.
need redis-server command -v redis-server
need tmux command -v tmux
need openssh-client command -v ssh
need chromium command -v chromium
need haproxy command -v haproxy
# The programs in examples/python.
need python3-grpcio /usr/bin/python3 -c 'import grpc'
need python3-protobuf /usr/bin/python3 -c 'import google.protobuf'
need protobuf-compiler command -v protoc
need protobuf-compiler-grpc command -v grpc_python_plugin
need libprotobuf-dev test -e /usr/include/google/protobuf/timestamp.proto
# The compose stacks; see scripts/with-local-docker.sh.
need docker.io command -v dockerd
need docker-compose command -v docker-compose
need iptables command -v iptables
need busybox-static command -v busybox
need redis-tools command -v redis-cli

if ((${#missing[@]} == 0)); then
  echo 'nothing is missing'
  exit
fi
echo "installing: ${missing[*]}"
apt=(env DEBIAN_FRONTEND=noninteractive apt-get)
((EUID == 0)) || apt=(sudo "${apt[@]}")
"${apt[@]}" update -qq
"${apt[@]}" install -y -qq --no-install-recommends "${missing[@]}"
