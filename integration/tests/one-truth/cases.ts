import fc from 'fast-check';
import { DEFAULT_MODE, MODE_NAMES, type ModeName, traitsOf } from '../../../src/config/modes.ts';
import { unknownNode } from '../../../src/forwarding/testing/unknown-node.ts';
import { type ClusterState, clusterStates } from '../../compare/oracle/states.ts';
import { isForwarding, rowsOf } from '../render-equality/rows.ts';
import { isValid } from '../render-equality/valid-state.ts';

/** A cluster, and the configuration of a node in it, both as they stand in files. */
export interface Case {
  readonly nodeName: string;
  readonly mode: ModeName;
  readonly manifests: string;
  readonly configuration: string;
}

/** Where the generator of clusters has its Services and its pods. */
const SERVICE_RANGES = ['10.96.0.0/16', 'fd00:96::/112'];
const POD_RANGES = ['10.244.0.0/16', 'fd00:244::/64'];

/** Clusters, configurations and modes that a node can have. */
export function cases(): fc.Arbitrary<Case> {
  const states = clusterStates().filter(isValid);
  return fc
    .record({
      state: fc.oneof({ weight: 3, arbitrary: states.filter(forwards) }, states),
      mode: fc.constantFrom(...MODE_NAMES),
      detection: fc.constantFrom<object>(
        { detectLocalMode: 'ClusterCIDR', clusterCIDR: POD_RANGES.join(',') },
        { detectLocalMode: 'NodeCIDR' },
        { detectLocalMode: 'BridgeInterface', detectLocal: { bridgeInterface: 'cni0' } },
        { detectLocalMode: 'InterfaceNamePrefix', detectLocal: { interfaceNamePrefix: 'veth' } },
        {},
      ),
      nodePortAddresses: fc.constantFrom(undefined, ['172.30.0.0/16'], ['primary']),
      addressRules: fc.constantFrom('strict', 'kube-proxy'),
      place: fc.constantFrom<Place>(
        { nodeObject: 'expected' },
        { nodeObject: 'expected' },
        { nodeObject: 'none', serviceRanges: SERVICE_RANGES },
        { nodeObject: 'none' },
      ),
    })
    .map((of) => ({
      nodeName: of.state.nodeName,
      mode: of.mode,
      manifests: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objectsOf(of.state) }),
      configuration: JSON.stringify(configurationOf(of)),
    }));
}

/** Few clusters of the generator forward anything on this node. */
function forwards(state: ClusterState): boolean {
  return rowsOf(state, unknownNode(state.nodeName)).some(isForwarding);
}

interface Place {
  readonly nodeObject: 'expected' | 'none';
  readonly serviceRanges?: readonly string[];
}

interface Objects {
  readonly nodeName: string;
  readonly zone: string;
  readonly services: readonly object[];
  readonly slices: readonly object[];
}

function objectsOf({ nodeName, zone, services, slices }: Objects): object[] {
  const labels = zone === '' ? {} : { 'topology.kubernetes.io/zone': zone };
  return [
    ...services.map((each) => ({ apiVersion: 'v1', kind: 'Service', ...each })),
    ...slices.map((each) => ({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      ...each,
    })),
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: nodeName, labels },
      spec: { podCIDRs: POD_RANGES },
      status: { addresses: [{ type: 'InternalIP', address: '172.30.1.1' }] },
    },
    {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'ServiceCIDR',
      metadata: { name: 'kubernetes' },
      spec: { cidrs: SERVICE_RANGES },
    },
  ];
}

function configurationOf(of: {
  readonly state: { readonly masqueradeAll: boolean };
  readonly mode: ModeName;
  readonly detection: object;
  readonly nodePortAddresses: readonly string[] | undefined;
  readonly addressRules: string;
  readonly place: Place;
}): object {
  const { mode, nodePortAddresses, addressRules, place } = of;
  const { masqueradeAll } = of.state;
  const isKubeProxys = traitsOf(mode).isOfKubeProxy;
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: isKubeProxys ? mode : DEFAULT_MODE,
    ...of.detection,
    ...(nodePortAddresses ? { nodePortAddresses } : {}),
    nftables: { masqueradeAll },
    iptables: { masqueradeAll },
    fairlead: { ...(isKubeProxys ? {} : { mode }), addressRules, ...place },
  };
}
