import { once } from 'node:events';
import net from 'node:net';

/** A port that was free a moment ago, in both families. */
export async function freePort(): Promise<number> {
  const server = net.createServer();
  await once(server.listen(0, '::'), 'listening');
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
