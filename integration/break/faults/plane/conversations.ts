import type dgram from 'node:dgram';
import type net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { bindUdp, dialTcp, dialUdp, listenTcp } from '../../../../lab/host/sockets.ts';
import { until } from '../../../../lab/host/until.ts';
import type { Target } from './connections.ts';

const CHUNK_WORDS = 256;
const PAUSE_MS = 2;
/** One that is lost never comes; one that is late came from a machine that has much to do. */
const ANSWER_DEADLINE_MS = 30_000;
const END_DEADLINE_MS = 10_000;

/** A long exchange that reports its result. Disposing it always ends it. */
export interface Conversation extends Disposable {
  /** Ends it; throws if anything was lost, or came in another order. */
  end(): Promise<string>;
}

/** Echoes everything, over TCP and UDP. */
export async function startEcho(of: { namespace: string; port: number }): Promise<AsyncDisposable> {
  const open = new Set<net.Socket>();
  const server = await listenTcp(of, (socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.pipe(socket);
  });
  const datagrams = await bindUdp(of);
  datagrams.on('message', (message, peer) => datagrams.send(message, peer.port, peer.address));
  return {
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      datagrams.close();
    },
  };
}

/** Numbers sent one after the other over one TCP connection, and expected back in that order. */
export function startStream(target: Target): Conversation {
  const { namespace, group, sourcePort } = target;
  const socket = dialTcp({ namespace, group, sourcePort }, target);
  let sent = 0;
  let received = 0;
  let problem: string | undefined;
  let isWanted = true;
  let rest = Buffer.alloc(0);
  const write = (): void => {
    if (!isWanted) return;
    const chunk = Buffer.alloc(CHUNK_WORDS * 4);
    for (let index = 0; index < CHUNK_WORDS; index++) chunk.writeUInt32LE(sent++ >>> 0, index * 4);
    socket.write(chunk, () => setTimeout(write, PAUSE_MS));
  };
  socket.on('connect', write);
  socket.on('data', (more) => {
    const bytes = Buffer.concat([rest, more]);
    const words = Math.floor(bytes.length / 4);
    for (let index = 0; index < words; index++) {
      const found = bytes.readUInt32LE(index * 4);
      if (found !== received) problem ??= `${found} came instead of ${received}`;
      received += 1;
    }
    rest = bytes.subarray(words * 4);
  });
  socket.on('error', (error) => {
    problem ??= error.message;
  });
  socket.on('close', () => {
    if (received < sent) problem ??= `closed after ${received * 4} bytes`;
  });
  return {
    async end() {
      isWanted = false;
      const isOver = (): boolean => problem !== undefined || (sent > 0 && received === sent);
      await until(isOver, { what: 'the rest of the stream', deadlineMs: END_DEADLINE_MS });
      socket.destroy();
      if (problem !== undefined) throw new Error(`the TCP stream: ${problem}`);
      return `${((received * 4) / 1e6).toFixed(1)} MB in order`;
    },
    [Symbol.dispose]() {
      isWanted = false;
      socket.destroy();
    },
  };
}

/** One question after the other over one connected UDP socket, each of them answered. */
export async function startDatagrams(target: Target): Promise<Conversation> {
  const { namespace, group } = target;
  const socket = await dialUdp({ namespace, group }, target);
  let isWanted = true;
  let answered = 0;
  const talk = async (): Promise<void> => {
    while (isWanted) {
      await question(socket, answered);
      answered += 1;
      await delay(PAUSE_MS);
    }
  };
  const talking = talk();
  // stop() reports the error.
  talking.catch(() => undefined);
  return {
    async end() {
      isWanted = false;
      await talking;
      return `${answered} of ${answered} datagrams answered`;
    },
    [Symbol.dispose]() {
      isWanted = false;
      socket.close();
    },
  };
}

async function question(socket: dgram.Socket, serial: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onMessage = (message: Buffer): void => {
    if (message.readUInt32LE() === serial) resolve();
    else reject(new Error(`received datagram ${message.readUInt32LE()} instead of ${serial}`));
  };
  const sentMs = performance.now();
  const late = setTimeout(
    () =>
      reject(new Error(`datagram ${serial}, sent at ${sentMs.toFixed(0)} ms, was not answered`)),
    ANSWER_DEADLINE_MS,
  );
  late.unref();
  socket.once('message', onMessage).once('error', reject);
  try {
    const words = Buffer.alloc(4);
    words.writeUInt32LE(serial);
    socket.send(words);
    await promise;
  } finally {
    clearTimeout(late);
    socket.off('message', onMessage).off('error', reject);
  }
}
