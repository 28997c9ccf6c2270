import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { type Answer, failure, type Peer } from './host-messages.ts';
import { readAnswer } from './serve-requests.ts';

const TIMEOUT_MS = 5000;

/** A socket that is connected on request, and sends when requested. */
export interface Held {
  speak(say: string): Promise<Answer>;
  /** After the last word: when the server has closed. */
  ended(): Promise<void>;
  close(): void;
}

/** Rejects with the error code of the system when no host is reached. */
export async function hold(peer: Peer): Promise<Held> {
  return peer.transport === 'TCP' ? await holdTcp(peer) : await holdUdp(peer);
}

async function holdTcp({ address, port, sourcePort, timeoutMs = TIMEOUT_MS }: Peer): Promise<Held> {
  const socket = connect({ host: address, port, ...(sourcePort ? { localPort: sourcePort } : {}) });
  let failed: Error | undefined;
  socket.on('error', (error) => {
    failed = error;
  });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(timeoutMs) });
  } catch (error) {
    socket.destroy();
    throw failed ?? error;
  }
  const from = socket.remoteAddress ?? '';
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  socket.once('close', () => close());
  const speak = (say: string): Promise<Answer> =>
    answered(timeoutMs, (done) => {
      socket.once('data', (text) => done(readAnswer(String(text), from)));
      void closed.then(() => done(failure(codeOf(failed))));
      socket.write(say);
    });
  const ended = async (): Promise<void> => {
    const timer = setTimeout(() => socket.destroy(), timeoutMs);
    await closed;
    clearTimeout(timer);
  };
  return { speak, ended, close: () => socket.destroy() };
}

async function holdUdp(peer: Peer): Promise<Held> {
  const { address, port, sourcePort = 0, timeoutMs = TIMEOUT_MS, connected = false } = peer;
  const type = address.includes(':') ? 'udp6' : 'udp4';
  const socket = createSocket({ type, reuseAddr: true });
  socket.bind(sourcePort);
  await once(socket, 'listening');
  if (connected) {
    socket.connect(port, address);
    await once(socket, 'connect');
  }
  // Nothing listens between requests.
  socket.on('error', () => undefined);
  const speak = (say: string): Promise<Answer> =>
    answered(timeoutMs, (done) => {
      socket.once('message', (text, { address: from }) => done(readAnswer(String(text), from)));
      socket.once('error', (error) => done(failure(codeOf(error))));
      if (connected) socket.send(say);
      else socket.send(say, port, address);
    });
  return { speak, ended: () => Promise.resolve(), close: () => socket.close() };
}

function answered(
  timeoutMs: number,
  begin: (done: (answer: Answer) => void) => void,
): Promise<Answer> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(failure('TIMEOUT')), timeoutMs);
    begin((answer) => {
      clearTimeout(timer);
      resolve(answer);
    });
  });
}

export function codeOf(error: unknown): string {
  if (error === undefined) return 'CLOSED';
  const { code, name } = error as NodeJS.ErrnoException;
  return name === 'AbortError' || name === 'TimeoutError' ? 'TIMEOUT' : (code ?? name);
}
