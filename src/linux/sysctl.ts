import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { SysctlError, sysctlError } from './sysctl-error.ts';

const PROC_SYS = '/proc/sys';

/** A setting that was changed: its value before, and its value afterwards. */
export interface SysctlChange {
  /** As a path below /proc/sys, such as `net/netfilter/nf_conntrack_max`. */
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

/** Settings of the kernel; an interface, for a kernel that fails when a test wants it to. */
export interface Sysctls {
  read(name: string): string;
  /** Writes only what differs; undefined: it was so already. */
  write(name: string, value: string): SysctlChange | undefined;
}

/**
 * Settings under net/ are those of the network namespace of the calling thread. Therefore, and
 * because these files never block, they are read and written synchronously: a thread of Node's pool
 * could be in another namespace.
 */
export function kernelSysctls(folder: string = PROC_SYS): Sysctls {
  return { read, write };

  function read(name: string): string {
    const path = pathOf(folder, name);
    try {
      return inOneSpelling(readFileSync(path, 'utf8'));
    } catch (error) {
      throw sysctlError(`read the sysctl ${name}`, error);
    }
  }

  function write(name: string, value: string): SysctlChange | undefined {
    const before = read(name);
    if (before === inOneSpelling(value)) return undefined;
    try {
      overwrite(pathOf(folder, name), value);
    } catch (error) {
      throw sysctlError(`set the sysctl ${name} to ${value}`, error);
    }
    // The kernel rounds some values, such as sizes of tables.
    const after = read(name);
    return after === before ? undefined : { name, before, after };
  }
}

/** Without O_CREAT, which would turn ENOENT into EACCES. */
function overwrite(path: string, value: string): void {
  const fd = openSync(path, 'r+');
  try {
    writeSync(fd, value);
  } finally {
    closeSync(fd);
  }
}

/**
 * Values of several numbers are separated by tabs in /proc/sys, and by spaces in configurations.
 */
function inOneSpelling(value: string): string {
  return value.trim().replace(/\s+/g, ' ');
}

/** Names can come from a file, and must not leave the folder. */
function pathOf(folder: string, name: string): string {
  const parts = name.split('/');
  if (parts.every((part) => part !== '' && part !== '.' && part !== '..')) {
    return join(folder, name);
  }
  throw new SysctlError('SYSCTL_MISSING', `'${name}' is not the name of a sysctl`, {
    next: 'use a path below /proc/sys, such as net/ipv4/ip_forward',
  });
}
