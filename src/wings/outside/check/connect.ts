import net from 'node:net';
import { systemCode } from '../../../cluster/cluster-error.ts';

/** What one attempt to connect came to. */
export type Connected = 'connected' | 'refused' | 'no route' | 'no answer';

const CONNECT_DEADLINE_MS = 2_000;

/** Opens a TCP connection and closes it again. */
export async function tryConnect(
  to: { readonly address: string; readonly port: number },
  signal: AbortSignal,
): Promise<Connected> {
  const { promise, resolve } = Promise.withResolvers<Connected>();
  const socket = net.connect({ host: to.address, port: to.port });
  const late = AbortSignal.any([signal, AbortSignal.timeout(CONNECT_DEADLINE_MS)]);
  const giveUp = (): void => resolve('no answer');
  late.addEventListener('abort', giveUp, { once: true });
  socket.once('connect', () => resolve('connected'));
  socket.once('error', (error) => resolve(outcomeOf(error)));
  try {
    return late.aborted ? 'no answer' : await promise;
  } finally {
    late.removeEventListener('abort', giveUp);
    socket.destroy();
  }
}

function outcomeOf(error: Error): Connected {
  const code = systemCode(error);
  if (code === 'ECONNREFUSED') return 'refused';
  if (code === 'ETIMEDOUT') return 'no answer';
  return 'no route';
}

const SECONDS = CONNECT_DEADLINE_MS / 1000;
const TEXTS: Readonly<Record<Connected, string>> = {
  connected: 'connected',
  refused: 'refused (the host answers)',
  'no route': 'no route',
  'no answer': `no answer within ${SECONDS} s`,
};

/** As the table shows it. */
export function connectedText(outcome: Connected): string {
  return TEXTS[outcome];
}
