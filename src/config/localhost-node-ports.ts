import { parseCidrs } from '../addresses/cidr.ts';
import { isLoopbackAddress } from '../addresses/loopback.ts';
import type { Problem } from './config-problem.ts';
import { gateValue } from './feature-gates.ts';
import type { Origin, ResolvedFields } from './layers.ts';
import { type ModeName, traitsOf } from './modes.ts';
import { expandNodePortAddresses } from './node-port-addresses.ts';
import type { NodePortSettings } from './settings.ts';

const GATE = 'KubeProxyNFTablesLocalhostNodePorts';

/** Whether the mode relays and the gate is on; `nodePortAddresses` has to name loopback as well. */
export function mayRelayLocalhost(fields: ResolvedFields, mode: ModeName): boolean {
  return gateValue(fields, GATE) && relays(mode);
}

/** Whether packets to loopback cannot be forwarded, so that connections are relayed. */
function relays(mode: ModeName): boolean {
  return traitsOf(mode).loopback === 'relayed';
}

/** Families whose TCP node ports on loopback are relayed; undefined: none. */
export function relayedLocalhost(
  fields: ResolvedFields,
  mode: ModeName,
): NodePortSettings['relayedLocalhost'] {
  if (!mayRelayLocalhost(fields, mode)) return undefined;
  const families = loopbackFamilies(fields.nodePortAddresses.value);
  return families.length === 0 ? undefined : families;
}

/** A gate without its address, and an address without its gate. */
export function localhostWarnings(fields: ResolvedFields, mode: ModeName): readonly Problem[] {
  const { featureGates, nodePortAddresses } = fields;
  const isNamed = loopbackFamilies(nodePortAddresses.value).length > 0;
  const canRelay = relays(mode);
  if (gateValue(fields, GATE)) {
    if (canRelay && isNamed) return [];
    const message = canRelay
      ? 'has no effect: nodePortAddresses does not include loopback; add "localhost" to it'
      : `has no effect in mode ${mode}`;
    return [{ subject: `featureGates.${GATE}`, message, ...placeOf(featureGates.origin) }];
  }
  if (!canRelay || !isNamed) return [];
  const message = `includes loopback, where mode ${mode} serves no node ports; enable the feature gate ${GATE} for TCP`;
  return [{ subject: 'nodePortAddresses', message, ...placeOf(nodePortAddresses.origin) }];
}

/** Families whose loopback is listed itself, and not only inside a wider range. */
function loopbackFamilies(written: readonly string[]): readonly ('IPv4' | 'IPv6')[] {
  const named = parseCidrs(expandNodePortAddresses(written)).filter(({ base }) =>
    isLoopbackAddress(base),
  );
  const has = (version: 4 | 6): boolean => named.some(({ base }) => base.version === version);
  return [...(has(4) ? (['IPv4'] as const) : []), ...(has(6) ? (['IPv6'] as const) : [])];
}

function placeOf(origin: Origin): Pick<Problem, 'place'> {
  return origin.from === 'file' ? { place: origin.place } : {};
}
