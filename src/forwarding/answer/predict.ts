import { contains, parseCidr } from '../../addresses/cidr.ts';
import { parseIp } from '../../addresses/ip.ts';
import { isLoopbackIp } from '../../addresses/loopback.ts';
import type { Endpoint, Forwarding, Frontend, Outcome } from '../model.ts';
import { familyOf, type Source } from './connection-source.ts';
import { type Destination, type Found, type Match, matchOf, unknownPort } from './destination.ts';
import type { Place } from './place.ts';
import type { LostAction, Prediction } from './prediction.ts';

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
  const match = matchOf(asked.to, rows, place);
  if (match.is === 'frontend') return predictAt(asked, { ...match, rows }, place);
  if (match.is === 'nothing') {
    const endpointOf = rowWithEndpoint(asked.to, rows);
    if (endpointOf !== undefined) return { code: 'NOT_TRANSLATED', action: 'pass', endpointOf };
  }
  if (match.is !== 'node port elsewhere') return predictUnknown(match, asked.source, place);
  const { row, frontend } = match;
  const relayed = relayedAt(match, { ...asked, place });
  if (relayed) return relayed;
  const rejected = rejectedEverywhere(asked.source, match, place);
  return rejected ?? { code: 'NODE_PORT_NOT_HERE', action: 'pass', row, frontend };
}

function rowWithEndpoint(
  { address, port, protocol }: Destination,
  rows: readonly Forwarding[],
): Forwarding | undefined {
  return rows.find(({ id, clusterEndpoints, localEndpoints }) => {
    const isIt = (each: Endpoint): boolean => each.address === address && each.port === port;
    return id.protocol === protocol && (clusterEndpoints.some(isIt) || localEndpoints.some(isIt));
  });
}

/** At an address that serves no node ports. Undefined: no rule is there for it. */
function rejectedEverywhere(
  source: Source,
  { row, frontend }: Found,
  place: Place,
): Prediction | undefined {
  const { outcomes, notServed } = frontend;
  if (!place.leavesAlone?.limitsWithoutEndpoints || notServed !== undefined) return undefined;
  if (!isClient(source, place) || outcomes.outside.action === 'forward') return undefined;
  // The rule is for clients outside, and asks for no source.
  return predictLost(outcomes.outside, { row, frontend }, false);
}

type Unknown = Exclude<Match, { is: 'frontend' | 'node port elsewhere' }>;

function predictUnknown(match: Unknown, source: Source, place: Place): Prediction {
  const action = unknownAction(match, source, place);
  if (match.is === 'undeclared port') {
    return { code: 'PORT_NOT_DECLARED', action, rows: match.rows };
  }
  if (match.is === 'unassigned') return { code: 'NO_SUCH_ADDRESS', action, range: match.range };
  const { nodePort } = match;
  return { code: 'NO_SUCH_ADDRESS', action, ...(nodePort ? { nodePort } : {}) };
}

function unknownAction(match: Unknown, source: Source, place: Place): LostAction {
  if (place.leavesAlone?.unknownPorts || match.is === 'nothing') return 'pass';
  if (!isClient(source, place)) return 'pass';
  if (match.is === 'undeclared port' && match.isClusterIp) return 'reject';
  return match.range === undefined ? 'pass' : 'drop';
}

/** Whether any rule meets the packets of this source. */
function isClient(source: Source, { facts }: Place): boolean {
  return source.class === 'host' || facts.clientInterfaces?.length !== 0;
}

/** At a frontend that is known. `rows`: all that may have its address too, if it is not served. */
export function predictAt(
  { source }: Pick<AskedConnection, 'source'>,
  { row, frontend, rows = [] }: Found & { readonly rows?: readonly Forwarding[] },
  place: Place,
): Prediction {
  const { notServed, allowedSources } = frontend;
  if (notServed !== undefined) {
    const isOthers = notServed.reason === 'other-service';
    const action = isOthers ? 'other-service' : unservedAction(frontend, { source, rows }, place);
    return { code: 'NOT_SERVED', action, row, frontend, notServed };
  }
  if (!isClient(source, place)) {
    return { code: 'NOT_A_CLIENT', action: 'pass', row, frontend };
  }
  const outcome = frontend.outcomes[source.class];
  const isEmpty = outcome.action === 'reject';
  const areRangesChecked = !(isEmpty && place.leavesAlone?.limitsWithoutEndpoints);
  if (areRangesChecked && allowedSources !== undefined && !isAllowed(source, allowedSources)) {
    return { code: 'DROPPED_SOURCE_RANGE', action: 'drop', row, frontend, allowedSources };
  }
  if (outcome.action !== 'forward') {
    return predictLost(outcome, { row, frontend }, isLeftAlone(source, frontend, place));
  }
  const { list, masquerade } = outcome;
  const endpoints = list === 'local' ? row.localEndpoints : row.clusterEndpoints;
  const { affinitySeconds } = row;
  const found = { row, frontend, list, masquerade, endpoints, affinitySeconds };
  return { code: 'WOULD_REACH', action: 'forward', ...found };
}

/** No endpoint gets it. */
function predictLost(
  outcome: Exclude<Outcome, { action: 'forward' }>,
  { row, frontend }: Found,
  isPassed: boolean,
): Prediction {
  if (outcome.action === 'drop') {
    return { code: 'DROPPED_NO_LOCAL_ENDPOINTS', action: 'drop', row, frontend };
  }
  const code = outcome.reason === 'not-a-node' ? 'REFUSED_NOT_A_NODE' : 'REFUSED_NO_ENDPOINTS';
  return { code, action: isPassed ? 'pass' : 'reject', row, frontend };
}

function isLeftAlone(source: Source, { kind }: Frontend, { leavesAlone }: Place): boolean {
  const isExternal = kind === 'external-ip' || kind === 'load-balancer-ip';
  return isExternal && source.class === 'host' && leavesAlone?.ownPacketsToExternalIPs === true;
}

/** No rule of the frontend is there, but the checks for cluster IPs are. */
function unservedAction(
  frontend: Frontend,
  { source, rows }: { readonly source: Source; readonly rows: readonly Forwarding[] },
  place: Place,
): LostAction {
  return unknownAction(unknownPort(frontend, rows, place) ?? { is: 'nothing' }, source, place);
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

/**
 * TCP node ports on loopback that the agent relays: to the endpoints that clients outside get, and
 * only while there is one. Undefined: it relays none there.
 */
function relayedAt(
  { row, frontend }: Found,
  {
    to,
    source,
    place,
  }: { readonly to: Destination; readonly source: Source; readonly place: Place },
): Prediction | undefined {
  const { relayedLocalhost = [] } = place.facts;
  const isRelayed = isLoopbackIp(to.address) && relayedLocalhost.includes(familyOf(to.address));
  if (!isRelayed || to.protocol !== 'TCP' || source.class !== 'host') return undefined;
  const outcome = frontend.outcomes.outside;
  if (outcome.action !== 'forward') {
    return { code: 'REFUSED_NO_ENDPOINTS', action: 'reject', row, frontend, relayed: true };
  }
  const { list } = outcome;
  return {
    code: 'WOULD_REACH',
    action: 'forward',
    row,
    frontend,
    list,
    masquerade: true,
    endpoints: list === 'local' ? row.localEndpoints : row.clusterEndpoints,
    affinitySeconds: row.affinitySeconds,
    relayed: true,
  };
}
