import { FORWARDER_ADDRESSES } from '../../../dataplanes/shared/forwarder-addresses.ts';
import {
  FAMILIES,
  type Family,
  SOURCE_CLASSES,
  type SourceClass,
} from '../../../forwarding/model.ts';
import { closeDescriptor } from '../../../linux/sockets/descriptors.ts';
import { openListener } from '../../../linux/sockets/listener.ts';
import { SocketError } from '../../../linux/sockets/socket-error.ts';
import { connectDescriptors } from '../../../linux/userspace/pass-descriptors.ts';
import type { HeldListener, ListenerPorts } from './forwarder-protocol.ts';

/**
 * A conntrack entry keeps the port that its connection was handed over to. With the same ports after
 * a restart of everything, a client that uses the port of such a connection again is served.
 */
export const USUAL_PORTS: ListenerPorts = { pod: 11_801, host: 11_802, outside: 11_803 };

const ASK = JSON.stringify({ ask: 'listeners' });

/** A kernel or a machine without the family. */
const NO_FAMILY: ReadonlySet<string> = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL']);

/** One for each family and source class; none of a family that the machine does not have. */
export function openListeners(): HeldListener[] {
  const opened: HeldListener[] = [];
  try {
    for (const family of FAMILIES) opened.push(...openFamily(family));
    return opened;
  } catch (error) {
    closeListeners(opened);
    throw error;
  }
}

/** Copies of the listeners of a running forwarder, at its handover socket. */
export async function copyListeners(path: string, timeoutMs: number): Promise<HeldListener[]> {
  using socket = await connectDescriptors(path, { timeoutMs });
  await socket.send({ payload: Buffer.from(ASK), fds: [] }, { timeoutMs });
  const answer = await socket.receive({ timeoutMs });
  if (answer === undefined) throw new Error('the forwarder closed the connection');
  const { listeners } = JSON.parse(answer.payload.toString()) as {
    readonly listeners: readonly Omit<HeldListener, 'fd'>[];
  };
  return answer.fds.flatMap((fd, index) => {
    const listener = listeners[index];
    if (listener !== undefined) return [{ fd, source: listener.source, isIPv6: listener.isIPv6 }];
    closeDescriptor(fd);
    return [];
  });
}

export function closeListeners(listeners: readonly HeldListener[]): void {
  for (const { fd } of listeners) closeDescriptor(fd);
}

function openFamily(family: Family): HeldListener[] {
  const isIPv6 = family === 'IPv6';
  const opened: HeldListener[] = [];
  try {
    for (const source of SOURCE_CLASSES) {
      opened.push({ fd: openUsual(family, source), source, isIPv6 });
    }
    return opened;
  } catch (error) {
    closeListeners(opened);
    if (isIPv6 && error instanceof SocketError && NO_FAMILY.has(error.code)) return [];
    throw error;
  }
}

/** At another port where a forwarder that drains has the usual one. */
function openUsual(family: Family, source: SourceClass): number {
  const address = FORWARDER_ADDRESSES[family];
  try {
    return openListener(address, USUAL_PORTS[source]).fd;
  } catch (error) {
    if (!(error instanceof SocketError) || error.code !== 'EADDRINUSE') throw error;
    return openListener(address).fd;
  }
}
