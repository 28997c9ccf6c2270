import { once } from 'node:events';
import net from 'node:net';
import type { TestContext } from 'node:test';

export interface FloodOptions {
  readonly port: number;
  readonly count: number;
  /** `one`: all from 127.1.0.1; `many`: each from an address of its own below 127.1.0.0/16. */
  readonly sources: 'one' | 'many';
  /** Sent on each connection as soon as it is there. */
  readonly send?: string;
  /** Sent on each connection again and again. */
  readonly drip?: { readonly byte: string; readonly everyMs: number };
  /** False: responses stay in the buffers of the kernel, and the end goes unnoticed. */
  readonly reads?: false;
}

export interface Flood {
  /** Connections that the server has not closed. */
  heldCount(): number;
}

const SOURCES_OF_A_BYTE = 250;

/** Holds many connections until the test ends; resolves when each was established or rejected. */
export async function flood(t: TestContext, options: FloodOptions): Promise<Flood> {
  const held = new Set<net.Socket>();
  const settled: Promise<unknown>[] = [];
  for (let index = 0; index < options.count; index++) {
    const socket = connect(options, index);
    held.add(socket);
    socket.on('close', () => held.delete(socket));
    // Connections that the server closes are what these tests are about.
    socket.on('error', () => socket.destroy());
    settled.push(Promise.race([once(socket, 'connect'), once(socket, 'close')]));
  }
  t.after(() => {
    for (const socket of held) socket.destroy();
  });
  await Promise.allSettled(settled);
  return { heldCount: () => held.size };
}

function connect({ port, sources, send, drip, reads }: FloodOptions, index: number): net.Socket {
  const localAddress = sourceAddress(sources === 'one' ? 0 : index);
  const socket = net.connect({ port, host: '127.0.0.1', localAddress, noDelay: true });
  if (reads !== false) socket.resume();
  if (send !== undefined) socket.write(send);
  if (drip !== undefined) {
    const timer = setInterval(() => socket.write(drip.byte), drip.everyMs);
    socket.on('close', () => clearInterval(timer));
  }
  return socket;
}

function sourceAddress(index: number): string {
  const high = Math.floor(index / SOURCES_OF_A_BYTE);
  return `127.1.${high}.${(index % SOURCES_OF_A_BYTE) + 1}`;
}
