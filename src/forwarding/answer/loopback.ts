import { isLoopbackIp } from '../../addresses/loopback.ts';
import type { Destination, Found } from './destination.ts';
import type { Place } from './place.ts';
import type { Prediction } from './prediction.ts';
import { familyOf, type Source } from './source.ts';

/**
 * TCP node ports on loopback that the agent relays: to the endpoints that clients outside get, and
 * only while there is one. Undefined: it relays none there.
 */
export function relayedAt(
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
    code: 'REACHES',
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
