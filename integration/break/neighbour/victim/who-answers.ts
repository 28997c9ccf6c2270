import { type Destination, dialTcp, type Origin } from '../../../../lab/host/sockets.ts';

const QUESTION = 'GET /hostname HTTP/1.1\r\n\r\n';
const DEADLINE_MS = 5_000;

/** The pod that answers a new connection; undefined: none did. */
export async function whoAnswers(from: Origin, to: Destination): Promise<string | undefined> {
  const socket = dialTcp(from, to);
  try {
    return await new Promise<string | undefined>((resolve) => {
      const nobody = (): void => resolve(undefined);
      socket.setTimeout(DEADLINE_MS, nobody);
      socket.once('error', nobody);
      socket.once('close', nobody);
      socket.once('connect', () => socket.write(QUESTION));
      socket.once('data', (data) => resolve(data.toString().split('\r\n\r\n')[1]));
    });
  } finally {
    socket.destroy();
  }
}
