#!/bin/sh
# Runs a program with its own view of what Cilium's agent would else change for the whole machine.
#   agent.sh FOLDER CGROUP PROGRAM [ARGUMENT...]
# FOLDER  everything that it writes and pins is below
# CGROUP  control group whose sockets it serves
set -e
folder=$1 cgroup=$2
shift 2
mkdir -p "$folder/bpf" "$folder/cgroup" "$folder/sysctl"
export folder cgroup
exec unshare --mount --propagation private sh -c '
  set -e
  # Settings of the machine that it writes at its start; the first one could not be taken back.
  for name in kernel/unprivileged_bpf_disabled kernel/timer_migration net/core/bpf_jit_enable \
    net/core/fb_tunnels_only_for_init_net; do
    [ -e "/proc/sys/$name" ] || continue
    copy="$folder/sysctl/$(basename "$name")"
    cat "/proc/sys/$name" >"$copy"
    mount --bind "$copy" "/proc/sys/$name"
  done
  mount -t bpf bpf "$folder/bpf"
  mount --bind "$cgroup" "$folder/cgroup"
  exec "$@"
' agent "$@"
