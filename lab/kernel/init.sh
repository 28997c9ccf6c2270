#!/bin/sh
# The first process of the guest: the host's root under a memory layer, then the command, then power
# off. `share` on the kernel's command line is a folder that both sides write to; `guest` in it is
# the command, `exit-code` is what it ended with.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
share=$(sed 's/.*share=\([^ ]*\).*/\1/' /proc/cmdline)

mount -t tmpfs tmpfs /mnt
mkdir /mnt/upper /mnt/work /mnt/root
mount -t overlay overlay -o lowerdir=/,upperdir=/mnt/upper,workdir=/mnt/work /mnt/root
cd /mnt/root || exit 1
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t devtmpfs devtmpfs dev
mkdir -p dev/pts dev/shm
mount -t devpts devpts dev/pts
for folder in dev/shm run var/tmp; do mount -t tmpfs tmpfs "$folder"; done
mount -t cgroup2 cgroup2 sys/fs/cgroup
mkdir -p "./$share"
mount -t hostfs none "./$share" -o "$share"
ip link set lo up

# A signal frame here has no vector registers beyond AVX: the C library must do without them.
export GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F_Usable,-AVX512VL_Usable,-AVX512BW_Usable
if [ -f "./$share/terminal" ]; then
  chroot . setsid --ctty --wait /bin/bash "$share/guest" <>/dev/tty0 >&0 2>&1
  code=$?
else
  # The first console is the standard output of the kernel's process, the second its standard error.
  # Pipes lead there, so that a program does not take its output for a terminal.
  stty -opost </dev/tty0
  stty -opost </dev/tty1
  mkfifo run/stdout run/stderr
  cat run/stdout >/dev/tty0 &
  cat run/stderr >/dev/tty1 &
  chroot . /bin/bash "$share/guest" </dev/null >run/stdout 2>run/stderr
  code=$?
  # What the command left running may hold the pipes open: a second for what is still in them.
  for _ in 1 2 3 4 5 6 7 8 9 10; do jobs %% >/dev/null 2>&1 && sleep 0.1; done
fi
echo $code >"./$share/exit-code"
sync
# Its last words are no output of the command.
echo 0 >/proc/sys/kernel/printk
# reboot(2) to power off: Debian's smallest install has no program for it but has perl.
perl -e 'syscall(169, 0xfee1dead, 0x28121969, 0x4321fedc)'
sleep 10
