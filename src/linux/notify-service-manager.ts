import { closeSync } from 'node:fs';
import { getSystemErrorName } from 'node:util';
import koffi from 'koffi';
import { sleep } from '../time/sleep.ts';

export interface ServiceManagerOptions {
  /** Usually `process.env`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onProblem: (error: NotifyError) => void;
}

const MICROSECONDS_OF_MS = 1000;

/**
 * Notifies systemd, or another service manager that set NOTIFY_SOCKET. Without it, does nothing.
 */
export class ServiceManager {
  readonly #options: ServiceManagerOptions;

  constructor(options: ServiceManagerOptions) {
    this.#options = options;
  }

  /** Traffic is served: units that wait for this one may start. */
  ready(status: string): void {
    this.#tell(['READY=1', statusLine(status)]);
  }

  stopping(): void {
    this.#tell(['STOPPING=1']);
  }

  /** The watchdog interval; undefined: no watchdog. */
  get watchdogIntervalMs(): number | undefined {
    const { WATCHDOG_USEC: microseconds, WATCHDOG_PID: pid } = this.#options.env;
    if (microseconds === undefined || !/^[1-9]\d{0,14}$/.test(microseconds)) return undefined;
    // It may be meant for our parent.
    if (pid !== undefined && pid !== String(process.pid)) return undefined;
    // At half of it, as sd_watchdog_enabled(3) advises.
    return Math.max(1, Math.floor(Number(microseconds) / MICROSECONDS_OF_MS / 2));
  }

  /** Gives signs of life while there is life, until the signal is aborted. */
  async runWatchdog(isAlive: () => boolean, signal: AbortSignal): Promise<void> {
    const everyMs = this.watchdogIntervalMs;
    if (everyMs === undefined) return;
    while (!signal.aborted) {
      if (isAlive()) this.#tell(['WATCHDOG=1']);
      await sleep(everyMs, signal);
    }
  }

  #tell(lines: readonly string[]): void {
    const { NOTIFY_SOCKET: socketPath } = this.#options.env;
    if (socketPath === undefined || socketPath === '') return;
    try {
      sendNotification(socketPath, lines);
    } catch (error) {
      if (!(error instanceof NotifyError)) throw error;
      this.#options.onProblem(error);
    }
  }
}

/** A line end would begin another assignment. */
function statusLine(status: string): string {
  return `STATUS=${status.replaceAll('\n', ' ')}`;
}

// Node has no unix datagram sockets. Only integers and buffers cross into C.
const libc = koffi.load('libc.so.6');
const socket: (family: number, type: number, protocol: number) => number = libc.func(
  'int socket(int family, int type, int protocol)',
);
const connect: (fd: number, address: Buffer, length: number) => number = libc.func(
  'int connect(int fd, void *address, unsigned int length)',
);
const send: (...args: [fd: number, bytes: Buffer, size: number, flags: number]) => number =
  libc.func('long send(int fd, void *bytes, unsigned long size, int flags)');

const AF_UNIX = 1;
const SOCK_DGRAM = 2;
const SOCK_CLOEXEC = 0o2000000;
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;
const FAMILY_BYTES = 2;
/** Size of sun_path; a path in the file system needs one byte for NUL. */
const PATH_BYTES = 108;

/** The notification failed. Nothing else depends on it. */
export class NotifyError extends Error {
  override readonly name = 'NotifyError';
  readonly code: string;
  readonly next =
    'check that NOTIFY_SOCKET belongs to this unit, and that the unit has Type=notify';

  constructor(what: string, code: string) {
    super(`cannot notify the service manager: ${what}: ${code}`);
    this.code = code;
  }
}

/**
 * Sends one datagram of lines such as `READY=1`, as sd_notify(3) does. A path that begins with `@`
 * is an abstract socket. Never waits. Throws NotifyError.
 */
export function sendNotification(socketPath: string, lines: readonly string[]): void {
  const address = unixAddress(socketPath);
  const bytes = Buffer.from(lines.join('\n'));
  const fd = check(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), 'socket');
  try {
    check(connect(fd, address, address.length), `connect to ${socketPath}`);
    check(send(fd, bytes, bytes.length, MSG_DONTWAIT | MSG_NOSIGNAL), `send to ${socketPath}`);
  } finally {
    closeSync(fd);
  }
}

/**
 * struct sockaddr_un, exactly as long as the name: trailing zeros would be a part of an abstract
 * name.
 */
function unixAddress(path: string): Buffer {
  const isAbstract = path.startsWith('@');
  if (!isAbstract && !path.startsWith('/')) throw new NotifyError(path, 'EAFNOSUPPORT');
  const name = Buffer.from(isAbstract ? `\0${path.slice(1)}` : `${path}\0`);
  if (name.length > PATH_BYTES) throw new NotifyError(path, 'ENAMETOOLONG');
  const address = Buffer.alloc(FAMILY_BYTES + name.length);
  address.writeUInt16LE(AF_UNIX, 0);
  name.copy(address, FAMILY_BYTES);
  return address;
}

function check(result: number, what: string): number {
  if (result >= 0) return result;
  throw new NotifyError(what, getSystemErrorName(-koffi.errno()));
}
