import { contains, parseCidr } from '../../addresses/cidr.ts';
import { parseIp } from '../../addresses/ip.ts';
import type { Forwarding } from '../model.ts';
import { type Destination, type Found, type Match, matchOf } from './destination.ts';
import { relayedAt } from './loopback.ts';
import type { Place } from './place.ts';
import type { Prediction } from './prediction.ts';
import type { Source } from './source.ts';

/** A new connection. */
export interface AskedConnection {
  readonly source: Source;
  readonly to: Destination;
}

/** What happens to a new connection, by the rows of the node. */
export function predict(
  asked: AskedConnection,
  rows: readonly Forwarding[],
  place: Place,
): Prediction {
  return predictMatch(asked, matchOf(asked.to, rows, place), place);
}

function predictMatch(asked: AskedConnection, match: Match, place: Place): Prediction {
  const unknown = place.leavesAlone?.unknownPorts ? 'pass' : undefined;
  switch (match.is) {
    case 'frontend':
      return predictAt(asked, match, place);
    case 'node port elsewhere': {
      const { row, frontend } = match;
      const relayed = relayedAt(match, { ...asked, place });
      return relayed ?? { code: 'NODE_PORT_NOT_HERE', action: 'pass', row, frontend };
    }
    case 'undeclared port': {
      const action = match.isClusterIp ? (unknown ?? 'reject') : 'pass';
      return { code: 'PORT_NOT_DECLARED', action, rows: match.rows };
    }
    case 'unassigned':
      return { code: 'NO_SUCH_ADDRESS', action: unknown ?? 'drop', range: match.range };
    case 'nothing': {
      const { nodePort } = match;
      return { code: 'NO_SUCH_ADDRESS', action: 'pass', ...(nodePort ? { nodePort } : {}) };
    }
  }
}

/** At a frontend that is known, whether it is served or not. */
export function predictAt(
  { source }: Pick<AskedConnection, 'source'>,
  { row, frontend }: Found,
  { facts, leavesAlone }: Place,
): Prediction {
  const { notServed, allowedSources } = frontend;
  if (notServed !== undefined) {
    return { code: 'NOT_SERVED', action: 'pass', row, frontend, notServed };
  }
  if (source.class !== 'host' && facts.clientInterfaces?.length === 0) {
    return { code: 'NOT_A_CLIENT', action: 'pass', row, frontend };
  }
  if (allowedSources !== undefined && !isAllowed(source, allowedSources)) {
    return { code: 'DROPPED_SOURCE_RANGE', action: 'drop', row, frontend, allowedSources };
  }
  const outcome = frontend.outcomes[source.class];
  if (outcome.action === 'drop') {
    return { code: 'DROPPED_NO_LOCAL_ENDPOINTS', action: 'drop', row, frontend };
  }
  if (outcome.action === 'reject') {
    const isExternal = frontend.kind === 'external-ip' || frontend.kind === 'load-balancer-ip';
    const isPassed =
      isExternal && source.class === 'host' && leavesAlone?.ownPacketsToExternalIPs === true;
    const code = outcome.reason === 'not-a-node' ? 'REFUSED_NOT_A_NODE' : 'REFUSED_NO_ENDPOINTS';
    return { code, action: isPassed ? 'pass' : 'reject', row, frontend };
  }
  const { list, masquerade } = outcome;
  const endpoints = list === 'local' ? row.localEndpoints : row.clusterEndpoints;
  const { affinitySeconds } = row;
  return {
    code: 'REACHES',
    action: 'forward',
    row,
    frontend,
    list,
    masquerade,
    endpoints,
    affinitySeconds,
  };
}

/** An unknown address is taken for an allowed one, unless none is. */
function isAllowed({ address }: Source, ranges: readonly string[]): boolean {
  if (address === undefined) return ranges.length > 0;
  const ip = parseIp(address);
  return ranges.some((text) => {
    const range = parseCidr(text);
    return range !== undefined && ip !== undefined && contains(range, ip);
  });
}
