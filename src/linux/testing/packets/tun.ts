import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import koffi from 'koffi';

/** A TUN interface whose other end is this process: sent packets come in by it. */
export interface Tun {
  send(packet: Uint8Array): void;
  /** The next wanted packet that leaves by it; undefined: none before the timeout. */
  receive(isWanted: (packet: Buffer) => boolean, withinMs: number): Promise<Buffer | undefined>;
  close(): void;
}

const TUNSETIFF = 0x4004_54ca;
const IFREQ_BYTES = 40;
const IFNAME_BYTES = 16;
const NO_PACKET_INFORMATION = 0x1000;
/** `tun` has packets without any header of a device, `tap` Ethernet frames. */
const KIND_FLAG = { tun: 1, tap: 2 } as const;
const LONGEST_PACKET = 65_536;
const LOOK_EVERY_MS = 2;

/** Makes the interface; it goes when it is closed, or with the process. */
export function openTun(name: string, kind: keyof typeof KIND_FLAG): Tun {
  const fd = openSync('/dev/net/tun', constants.O_RDWR | constants.O_NONBLOCK);
  const request = Buffer.alloc(IFREQ_BYTES);
  request.write(name, 'latin1');
  request.writeUInt16LE(KIND_FLAG[kind] | NO_PACKET_INFORMATION, IFNAME_BYTES);
  const ioctl = koffi.load('libc.so.6').func('int ioctl(int fd, unsigned long what, void *about)');
  if (ioctl(fd, TUNSETIFF, request) !== 0) {
    const errno = koffi.errno();
    closeSync(fd);
    throw new Error(`the interface ${name} cannot be made: errno ${errno}`);
  }
  return {
    send: (packet) => void writeSync(fd, packet),
    receive: async (isWanted, withinMs) => {
      const deadlineMs = performance.now() + withinMs;
      for (;;) {
        const packet = readOne(fd);
        if (packet && isWanted(packet)) return packet;
        if (packet) continue;
        if (performance.now() > deadlineMs) return undefined;
        await delay(LOOK_EVERY_MS);
      }
    },
    close: () => closeSync(fd),
  };
}

function readOne(fd: number): Buffer | undefined {
  const packet = Buffer.alloc(LONGEST_PACKET);
  try {
    return packet.subarray(0, readSync(fd, packet));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return undefined;
    throw error;
  }
}
