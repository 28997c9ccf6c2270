import { once } from 'node:events';
import { Socket } from 'node:net';
import { orThrow } from '../../../../linux/sockets/descriptors.ts';
import { fixedMemory } from '../../../../linux/sockets/fixed-memory.ts';
import {
  encodeSocketAddress,
  MOST_SOCKET_ADDRESS_BYTES,
  type SocketAddress,
} from '../../../../linux/sockets/socket-address.ts';
import {
  AF_INET,
  AF_INET6,
  SOCK_NONBLOCK,
  SOCK_STREAM,
} from '../../../../linux/sockets/socket-constants.ts';
import { SocketError } from '../../../../linux/sockets/socket-error.ts';
import { connect, socket } from '../../../../linux/sockets/socket-libc.ts';
import { SocketOptions } from '../../../../linux/sockets/socket-options.ts';
import { setTransparent } from '../../../../linux/sockets/transparent.ts';
import { untilReady } from '../../../../linux/sockets/until-ready.ts';
import { KEPT_PORTS, SourceBinder } from '../../../../linux/userspace/source-ports.ts';

const DEADLINE_MS = 3000;

/**
 * Connects as the forwarder does, from `source` if there is one, and returns what a host of a test
 * answers: its name and the address it saw.
 */
export async function dialTransparently(to: SocketAddress, source?: string): Promise<string> {
  const isIPv6 = to.address.includes(':');
  const type = SOCK_STREAM | SOCK_NONBLOCK;
  const fd = orThrow(socket(isIPv6 ? AF_INET6 : AF_INET, type, 0), 'open a TCP socket');
  const options = new SocketOptions();
  succeed(setTransparent(options, fd, isIPv6), 'set IP_TRANSPARENT');
  const memory = fixedMemory(MOST_SOCKET_ADDRESS_BYTES);
  if (source !== undefined) {
    const length = encodeSocketAddress(memory.bytes, { address: source, port: 0 });
    succeed(new SourceBinder(options, KEPT_PORTS).bind(fd, memory, length), `bind to ${source}`);
  }
  connect(fd, memory.address, encodeSocketAddress(memory.bytes, to));
  await untilReady(fd, 'writable', { timeoutMs: DEADLINE_MS });
  succeed(options.takeError(fd), `connect to ${to.address}`);
  const client = new Socket({ fd, readable: true, writable: true });
  client.write('bye');
  const signal = AbortSignal.timeout(DEADLINE_MS);
  const [answer] = (await once(client, 'data', { signal })) as [Buffer];
  client.destroy();
  const [by = '', saw = ''] = answer.toString('latin1').split(' ');
  return `${by} ${saw}`;
}

function succeed(errno: number, operation: string): void {
  if (errno !== 0) throw new SocketError(operation, errno);
}
