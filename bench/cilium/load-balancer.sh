#!/bin/sh
# Runs Cilium's control plane for load balancing with real maps, which nothing reads.
#   load-balancer.sh FOLDER PROGRAM [ARGUMENT...]
set -e
input="$1/input"
shift
rm -f "$input"
mkfifo "$input"
export input
exec unshare --mount --propagation private sh -c '
  set -e
  # Its maps are pinned below the default of the machine: it gets a file system of its own there.
  mount -t bpf bpf /sys/fs/bpf
  mkdir -p /sys/fs/bpf/tc/globals
  # Open at both ends: it reads its only command, and never the end.
  exec 3<>"$input"
  echo hive/start >&3
  exec "$@" <&3
' load-balancer "$@"
