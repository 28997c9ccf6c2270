import { isLoopbackIp } from '../../addresses/loopback.ts';
import type { NodeFacts } from '../../dataplanes/contract.ts';
import type { BoundSocket } from '../../linux/host-sockets/bound-socket.ts';
import { type SocketOwner, socketOwners } from '../../linux/host-sockets/socket-owner.ts';
import { listHostSockets } from '../../linux/host-sockets/watch-host-sockets.ts';
import { check } from '../doctor-check.ts';
import { orOk, problem } from '../finding.ts';
import { type NodePort, nodePortsOf } from '../node-ports.ts';

interface Facts {
  readonly portCount: number;
  readonly taken: readonly {
    readonly nodePort: NodePort;
    /** Undefined: not visible from here. */
    readonly owner: SocketOwner | undefined;
  }[];
}

export const NODE_PORT_SOCKETS = check<Facts>({
  name: 'node-port-sockets',
  read: async ({ node }) => {
    if (node === undefined) return { portCount: 0, taken: [] };
    const { rows, facts } = node;
    const ports = nodePortsOf(rows);
    const byKey = new Map(ports.map((port) => [keyOf(port), port]));
    const sockets = (await listHostSockets()).filter((socket) => isCovered(socket, facts));
    const taken = sockets.flatMap((socket) => {
      const nodePort = byKey.get(keyOf(socket));
      return nodePort === undefined ? [] : [{ nodePort, inode: socket.inode }];
    });
    const owners =
      taken.length === 0
        ? new Map<number, SocketOwner>()
        : await socketOwners(new Set(taken.map(({ inode }) => inode)));
    return {
      portCount: ports.length,
      taken: taken.map(({ nodePort, inode }) => ({ nodePort, owner: owners.get(inode) })),
    };
  },
  judge: ({ portCount, taken }) => {
    const found = taken.map(({ nodePort: { port, protocol, service, family }, owner }) => {
      const who = owner ? `${owner.program} (pid ${owner.pid})` : 'a process on this machine';
      return problem('NODE_PORT_IN_USE', {
        what: `${who} listens on ${port}/${protocol}, a node port of ${service} (${family})`,
        why: 'clients of that process reach the Service instead',
        next: 'move the process to another port, or give the Service another node port',
      });
    });
    return orOk(found, `${portCount} node ports, none used by a process`);
  },
});

function keyOf(socket: { family: string; protocol: string; port: number }): string {
  return `${socket.family} ${socket.protocol} ${socket.port}`;
}

/** Whether node ports are served at an address that the process listens on. */
function isCovered({ family, address }: BoundSocket, facts: NodeFacts): boolean {
  const served = facts.nodePortAddresses[family];
  if (isLoopbackIp(address)) return family === 'IPv4' && facts.nodePortsOnLocalhost === true;
  if (served === 'all') return true;
  return address === '' ? served.length > 0 : served.includes(address);
}
