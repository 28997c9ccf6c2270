import { once } from 'node:events';
import net from 'node:net';

/** Below the ports that the kernel gives to clients: no connection can take one in between. */
const FIRST_PORT = 20_000;
const PORTS = 12_000;
const PORTS_OF_A_PROCESS = 100;

let given = 0;

/**
 * A port that was free a moment ago, in both families, and that no test of another file asks for:
 * each process begins in a place of its own.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const place = process.pid * PORTS_OF_A_PROCESS + given;
    given += 1;
    const port = FIRST_PORT + (place % PORTS);
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = net.createServer();
  server.listen(port, '::');
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  await new Promise((resolve) => server.close(resolve));
  return true;
}
