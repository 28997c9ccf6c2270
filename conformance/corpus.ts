import { type ApiVersion, hasApiOf } from '../lab/parts/api-version.ts';
import type { Scenario } from './scenario.ts';
import { addressRuleScenarios } from './scenarios/address-rules.ts';
import { affinityScenarios } from './scenarios/affinity.ts';
import { clusterIpScenarios } from './scenarios/cluster-ip.ts';
import { clusterIpPortScenarios } from './scenarios/cluster-ip-ports.ts';
import { conflictScenarios } from './scenarios/conflicts.ts';
import { endpointChangeScenarios } from './scenarios/endpoint-changes.ts';
import { externalIpScenarios } from './scenarios/external-ip.ts';
import { externalPolicyScenarios } from './scenarios/external-policy.ts';
import { externalPolicyVipScenarios } from './scenarios/external-policy-vips.ts';
import { flowScenarios } from './scenarios/flows.ts';
import { forwardingScenarios } from './scenarios/forwarding.ts';
import { hairpinScenarios } from './scenarios/hairpin.ts';
import { healthCheckScenarios } from './scenarios/health-check.ts';
import { icmpErrorScenarios } from './scenarios/icmp-errors.ts';
import { internalPolicyScenarios } from './scenarios/internal-policy.ts';
import { largeServiceScenarios } from './scenarios/large-services.ts';
import { leftAloneScenarios } from './scenarios/left-alone.ts';
import { loadBalancerScenarios } from './scenarios/load-balancer.ts';
import { masqueradeScenarios } from './scenarios/masquerade.ts';
import { noEndpointsScenarios } from './scenarios/no-endpoints.ts';
import { nodeCacheScenarios } from './scenarios/node-cache.ts';
import { nodePortScenarios } from './scenarios/node-port.ts';
import { nodePortAddressScenarios } from './scenarios/node-port-addresses.ts';
import { outsideChangeScenarios } from './scenarios/outside/changes.ts';
import { outsideClosedScenarios } from './scenarios/outside/closed.ts';
import { outsideClusterIpScenarios } from './scenarios/outside/cluster-ips.ts';
import { outsideNameScenarios } from './scenarios/outside/names.ts';
import { packetSizeScenarios } from './scenarios/packet-sizes.ts';
import { pingScenarios } from './scenarios/ping.ts';
import { schedulerScenarios } from './scenarios/schedulers.ts';
import { sctpScenarios } from './scenarios/sctp.ts';
import { serviceChangeScenarios } from './scenarios/service-changes.ts';
import { serviceLifecycleScenarios } from './scenarios/service-lifecycle.ts';
import { sliceScenarios } from './scenarios/slices.ts';
import { sourceRangeScenarios } from './scenarios/source-ranges.ts';
import { terminatingScenarios } from './scenarios/terminating.ts';
import { topologyScenarios } from './scenarios/topology.ts';
import { uplinkScenarios } from './scenarios/uplinks.ts';
import { withoutEbpfScenarios } from './scenarios/without-ebpf.ts';

/** Every scenario, in the order of the table. Names are unique; a test holds that. */
export const CORPUS: readonly Scenario[] = [
  ...clusterIpScenarios,
  ...clusterIpPortScenarios,
  ...nodePortScenarios,
  ...externalIpScenarios,
  ...loadBalancerScenarios,
  ...sourceRangeScenarios,
  ...internalPolicyScenarios,
  ...externalPolicyScenarios,
  ...externalPolicyVipScenarios,
  ...terminatingScenarios,
  ...healthCheckScenarios,
  ...affinityScenarios,
  ...topologyScenarios,
  ...hairpinScenarios,
  ...masqueradeScenarios,
  ...noEndpointsScenarios,
  ...leftAloneScenarios,
  ...nodeCacheScenarios,
  ...withoutEbpfScenarios,
  ...serviceChangeScenarios,
  ...serviceLifecycleScenarios,
  ...endpointChangeScenarios,
  ...sliceScenarios,
  ...flowScenarios,
  ...forwardingScenarios,
  ...nodePortAddressScenarios,
  ...conflictScenarios,
  ...addressRuleScenarios,
  ...uplinkScenarios,
  ...pingScenarios,
  ...icmpErrorScenarios,
  ...packetSizeScenarios,
  ...largeServiceScenarios,
  ...sctpScenarios,
  ...schedulerScenarios,
  ...outsideClusterIpScenarios,
  ...outsideChangeScenarios,
  ...outsideNameScenarios,
  ...outsideClosedScenarios,
];

/** Those that an API server of a version does not reject. */
export function acceptedBy(
  version: ApiVersion,
  scenarios: readonly Scenario[],
): readonly Scenario[] {
  return scenarios.filter(({ setup }) => hasApiOf(version, setup?.since ?? version));
}
