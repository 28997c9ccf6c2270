import type { PortAnswer, Verdicts } from './answer.ts';
import type { ClusterState } from './states.ts';

/**
 * What becomes of a connection, from the endpoints that upstream chose. Upstream has no such
 * function: its modes say it in rules. So this says it a second time, in the order in which those
 * rules are met, and shares nothing with the table of src/forwarding/outcomes.ts.
 */
export function verdictsOf(port: Omit<PortAnswer, 'verdicts'>, state: ClusterState): Verdicts {
  const isDetecting = state.detectsPods;
  const lists = { cluster: port.cluster, local: port.local };
  const to = (list: 'cluster' | 'local', masquerade: boolean): string => {
    // Endpoints that exist, but not for this traffic on this node: other nodes serve it.
    if (lists[list].length === 0) return port.anywhere ? 'drop' : 'reject';
    return masquerade ? `${list} masqueraded` : list;
  };
  const internal = (isPod: boolean): string =>
    to(port.internalLocal ? 'local' : 'cluster', state.masqueradeAll || (isDetecting && !isPod));
  const external = (source: 'pod' | 'host' | 'outside'): string => {
    if (!port.externalLocal) return to('cluster', true);
    // The way round the policy for what starts on this node: first pods, then its own addresses.
    if (source === 'pod' && isDetecting) return to('cluster', false);
    if (source === 'host') return to('cluster', true);
    return to('local', false);
  };
  const outer = { pod: external('pod'), host: external('host'), outside: external('outside') };
  return {
    'cluster-ip': { pod: internal(true), host: internal(false), outside: internal(false) },
    ...(port.externalIPs.length > 0 ? { 'external-ip': outer } : {}),
    ...(port.loadBalancerIPs.length > 0 ? { 'load-balancer-ip': outer } : {}),
    ...(port.nodePort === 0 ? {} : { 'node-port': outer }),
  };
}
