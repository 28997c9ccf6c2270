import { isLoopbackIp } from '../addresses/loopback.ts';
import type { NodeFacts } from '../dataplanes/contract.ts';
import { claimOf } from '../forwarding/claims.ts';
import type { ForwardingTable } from '../forwarding/table.ts';
import type { HeldPort, SocketOwner } from './host-sockets.ts';

/** A node port whose number a process of the machine listens on: its clients reach the Service. */
export interface NodePortConflict {
  /** `namespace/name`. */
  readonly service: string;
  readonly socket: HeldPort;
  /** Undefined: not known, or not visible from here. */
  readonly owner?: SocketOwner;
}

/** Costs time in proportion to the sockets, for any number of Services. */
export function nodePortConflicts(parts: {
  readonly table: ForwardingTable;
  readonly facts: NodeFacts;
  readonly sockets: readonly HeldPort[];
}): NodePortConflict[] {
  const { table, facts, sockets } = parts;
  return sockets.flatMap((socket) => {
    if (!isCovered(socket, facts)) return [];
    const service = table.nodePortOwner(socket);
    return service === undefined ? [] : [{ service, socket }];
  });
}

/** Whether node ports are served at an address that the process listens on. */
function isCovered({ family, address }: HeldPort, facts: NodeFacts): boolean {
  const served = facts.nodePortAddresses[family];
  if (isLoopbackIp(address)) return family === 'IPv4' && facts.nodePortsOnLocalhost === true;
  if (served === 'all') return true;
  return address === '' ? served.length > 0 : served.includes(address);
}

export function conflictKey({ service, socket }: NodePortConflict): string {
  return [service, claimOf(socket, socket)].join(' ');
}

/** `node port 30080/TCP of shop/web is also used by nginx (pid 812)`. */
export function conflictText({ service, socket, owner }: NodePortConflict): string {
  const holder = owner ? `${owner.program} (pid ${owner.pid})` : 'a process on this machine';
  return `node port ${socket.port}/${socket.protocol} of ${service} is also used by ${holder}`;
}
