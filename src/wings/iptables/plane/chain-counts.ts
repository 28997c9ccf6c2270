import type { EndpointCount, KernelFrontend, RejectedCount } from '../../../dataplanes/contract.ts';
import type { Family, Protocol } from '../../../forwarding/model.ts';
import type { SavedTable } from '../../../linux/xtables/saved-table.ts';
import { NODE_PORTS, SERVICES } from './chain-names.ts';

const PROTOCOLS: Readonly<Record<string, Protocol>> = { tcp: 'TCP', udp: 'UDP', sctp: 'SCTP' };
const COUNTED =
  /^\[(\d+):(\d+)\] -p (\w+) -m comment --comment "([^"]+)" .*--to-destination (\S+)$/;
const ADDRESS = /^-d (\S+)\/\d+ -p (\w+) .*--dport (\d+)/;
const NODE_PORT = /^-p (\w+) .*--dport (\d+)/;

/**
 * The counters of endpoint rules; table nat sees only the first packet of a connection. All
 * addresses of a service port share the chain of an endpoint. `nat` was read with counters. In a
 * large cluster upstream writes no comments here: then the result is empty.
 */
export function endpointCounts(nat: SavedTable, family: Family): EndpointCount[] {
  const counts: EndpointCount[] = [];
  for (const [name, rules] of nat) {
    if (!name.startsWith('KUBE-SEP-')) continue;
    for (const rule of rules) {
      const found = COUNTED.exec(rule);
      if (!found) continue;
      const [, packets, bytes, protocol = '', service = '', endpoint = ''] = found;
      counts.push({
        service: `${service}/${PROTOCOLS[protocol]}/${family}`,
        endpoint,
        connections: Number(packets),
        bytes: Number(bytes),
      });
    }
  }
  return counts;
}

const REJECTED =
  /^\[(\d+):\d+\] .*-p (\w+) .*--comment "(\S+) has no (?:local )?endpoints" .*-j (REJECT|DROP)\b/;

const OUTSIDE_RANGES =
  /^\[(\d+):\d+\] .*-p (\w+) .*--comment "(\S+) traffic not accepted by KUBE-FW-\w+" .*-j (DROP)\b/;

/** The counters of the rules of Services without endpoints, or with source ranges. `filter` was read with counters. */
export function rejectedCounts(filter: SavedTable, family: Family): RejectedCount[] {
  const counts = new Map<string, RejectedCount>();
  for (const rules of filter.values()) {
    for (const rule of rules) {
      const limited = OUTSIDE_RANGES.exec(rule);
      const [, packets, protocol = '', name = '', jump] = limited ?? REJECTED.exec(rule) ?? [];
      if (jump === undefined) continue;
      const service = `${name}/${PROTOCOLS[protocol]}/${family}`;
      const known = counts.get(service) ?? { service, rejected: 0, dropped: 0 };
      const verdict = limited ? 'outsideRanges' : jump === 'REJECT' ? 'rejected' : 'dropped';
      counts.set(service, { ...known, [verdict]: (known[verdict] ?? 0) + Number(packets) });
    }
  }
  return [...counts.values()];
}

/** Every address that is translated. */
export function kernelFrontends(nat: SavedTable): KernelFrontend[] {
  const frontends: KernelFrontend[] = [];
  for (const rule of nat.get(SERVICES) ?? []) {
    const [, address, name = '', port] = ADDRESS.exec(rule) ?? [];
    const protocol = PROTOCOLS[name];
    if (address !== undefined && protocol)
      frontends.push({ protocol, address, port: Number(port) });
  }
  for (const rule of nat.get(NODE_PORTS) ?? []) {
    const [, name = '', port] = NODE_PORT.exec(rule) ?? [];
    const protocol = PROTOCOLS[name];
    if (protocol) frontends.push({ protocol, port: Number(port) });
  }
  return frontends;
}
