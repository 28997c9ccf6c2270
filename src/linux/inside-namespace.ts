import { closeSync, openSync } from 'node:fs';
import { getSystemErrorName } from 'node:util';
import koffi from 'koffi';

const libc = koffi.load('libc.so.6');
const setns: (fd: number, kind: number) => number = libc.func('int setns(int fd, int kind)');
const CLONE_NEWNET = 0x4000_0000;
const OWN = '/proc/thread-self/ns/net';

/** A network namespace that this process may not enter. */
export class NamespaceError extends Error {
  override readonly name = 'NamespaceError';
  readonly code = 'NAMESPACE_NOT_PERMITTED';
  readonly next =
    'run as root with CAP_SYS_ADMIN; in a container, mount /run/netns or use the PID namespace of the machine';
}

/**
 * Runs one synchronous callback with this thread in another network namespace, given by a path such
 * as /proc/123/ns/net. The callback must not wait: no other code may run on the thread meanwhile.
 * See decision 0007.
 */
export function insideNetworkNamespace<T>(path: string, stretch: () => T): T {
  const home = openSync(OWN, 'r');
  try {
    const there = openSync(path, 'r');
    try {
      enter(there, path);
    } finally {
      closeSync(there);
    }
    try {
      return stretch();
    } finally {
      // Away from home every socket made from now on would be in the wrong place.
      if (setns(home, CLONE_NEWNET) !== 0) process.abort();
    }
  } finally {
    closeSync(home);
  }
}

function enter(fd: number, path: string): void {
  if (setns(fd, CLONE_NEWNET) === 0) return;
  const errno = koffi.errno();
  throw new NamespaceError(
    `cannot enter the network namespace ${path}: ${getSystemErrorName(-errno)}`,
  );
}
