import { formatIp, parseIpSloppily } from '../addresses/ip.ts';
import { featureSettings } from './feature-gates.ts';
import type { StartWishes } from './flags/read.ts';
import { ipvsSettings } from './ipvs-block.ts';
import type { ResolvedFields } from './layers.ts';
import { mayRelayLocalhost, relayedLocalhost } from './localhost-node-ports.ts';
import { DEFAULT_MODE, isModeName, type ModeName, traitsOf } from './modes.ts';
import { isUnspecified, type ListenAddress, parseListenAddress } from './network-text.ts';
import { expandNodePortAddresses, isEveryAddress } from './node-port-addresses.ts';
import { clusterSettings, scopeSettings } from './scope-settings.ts';
import type {
  ClientSettings,
  ConntrackSettings,
  LocalTraffic,
  NodePortSettings,
  ServedAddressSettings,
  Settings,
} from './settings.ts';

/** The mode that will run: ours if the block of ours names one. */
export function modeOf(fields: ResolvedFields): ModeName {
  const name = fields['fairlead.mode'].value || fields.mode.value;
  // Any other value is a problem that validation reports; this default only lets it continue.
  return isModeName(name) ? name : DEFAULT_MODE;
}

/** Fields that have passed validation, turned into settings. */
export function resolveSettings(fields: ResolvedFields, wishes: StartWishes): Settings {
  const mode = modeOf(fields);
  const { masqueradeBlock, syncBlock } = traitsOf(mode);
  const nodeObject = fields['fairlead.nodeObject'].value === 'none' ? 'none' : 'expected';
  const nodeName = fields.hostnameOverride.value.trim().toLowerCase();
  const address = parseIpSloppily(fields.bindAddress.value);
  const healthServer = wishes.healthServerOff
    ? undefined
    : listenAddress(fields.healthzBindAddress.value);
  return deepFreeze({
    mode,
    ...optional('nodeName', nodeName === '' ? undefined : nodeName),
    nodeObject,
    ...optional(
      'nodeAddress',
      address === undefined || isUnspecified(address) ? undefined : formatIp(address),
    ),
    api: {
      ...optional('kubeconfigPath', fields['clientConnection.kubeconfig'].value || undefined),
      ...optional('serverUrl', wishes.serverUrl),
      ...optional('accept', fields['clientConnection.acceptContentTypes'].value || undefined),
    },
    ...optional('healthServer', healthServer),
    metricsServer: listenAddress(fields.metricsBindAddress.value),
    serviceMetrics: fields['fairlead.serviceMetrics'].value,
    endsWhenServerFails: fields.bindAddressHardFail.value,
    localTraffic: localTraffic(fields),
    podNetworks: clusterCidrs(fields),
    nodePorts: nodePorts(fields, { mode, nodeObject }),
    clients: clients(fields),
    servedAddresses: servedAddresses(fields),
    ...optional('zone', fields['fairlead.zone'].value || undefined),
    ...optional('scope', scopeSettings(fields)),
    ...clusterSettings(fields),
    addressRules: fields['fairlead.addressRules'].value === 'kube-proxy' ? 'kube-proxy' : 'strict',
    masquerade: {
      all: fields[`${masqueradeBlock}.masqueradeAll`].value,
      markBit: fields[`${masqueradeBlock}.masqueradeBit`].value,
    },
    syncPeriodMs: fields[`${syncBlock}.syncPeriod`].value,
    conntrack: conntrackSettings(fields),
    ipvs: ipvsSettings(fields),
    ebpf: {
      ...optional('cgroupPath', fields['fairlead.cgroup'].value || undefined),
      pinFolder: fields['fairlead.pinFolder'].value,
      ...optional('interfaces', listed(fields['fairlead.interfaces'].value)),
    },
    userspace: { ...optional('threads', fields['fairlead.userspace.threads'].value || undefined) },
    oomScoreAdj: fields.oomScoreAdj.value,
    features: {
      ...featureSettings(fields),
      localhostNodePorts: mayRelayLocalhost(fields, mode),
    },
    log: {
      format: fields['logging.format'].value === 'json' ? 'json' : 'text',
      verbosity: fields['logging.verbosity'].value,
    },
  });
}

function listed(texts: readonly string[]): readonly string[] | undefined {
  return texts.length === 0 ? undefined : [...texts];
}

export function clusterCidrs(fields: ResolvedFields): readonly string[] {
  return fields.clusterCIDR.value === '' ? [] : fields.clusterCIDR.value.split(',');
}

function localTraffic(fields: ResolvedFields): LocalTraffic {
  switch (fields.detectLocalMode.value) {
    case 'NodeCIDR':
      return { by: 'NodeCIDR' };
    case 'BridgeInterface':
      return { by: 'BridgeInterface', interfaceName: fields['detectLocal.bridgeInterface'].value };
    case 'InterfaceNamePrefix':
      return {
        by: 'InterfaceNamePrefix',
        prefix: fields['detectLocal.interfaceNamePrefix'].value,
      };
    default:
      return { by: 'ClusterCIDR', cidrs: clusterCidrs(fields) };
  }
}

function clients(fields: ResolvedFields): ClientSettings {
  const written = fields['fairlead.clients'].value;
  return written.includes('everybody') ? 'everybody' : [...written];
}

function servedAddresses(fields: ResolvedFields): ServedAddressSettings {
  const written = fields['fairlead.servedAddresses'].value;
  const isNode = fields['fairlead.nodeObject'].value !== 'none';
  return {
    allClusterIPs: isNode || written.includes('allClusterIPs'),
    externalIPs: written.includes('externalIPs'),
    loadBalancerIPs: written.includes('loadBalancerIPs'),
  };
}

function nodePorts(
  fields: ResolvedFields,
  { mode, nodeObject }: Pick<Settings, 'mode' | 'nodeObject'>,
): NodePortSettings {
  const written = fields.nodePortAddresses.value;
  if (written.length === 0 && nodeObject === 'none')
    return { addresses: 'none', onLocalhost: false };
  const addresses = expandNodePortAddresses(written);
  const isAll = written.length === 0 || isEveryAddress(addresses);
  return {
    addresses: isAll ? 'all' : addresses,
    onLocalhost:
      traitsOf(mode).loopback === 'forwarded' && fields['iptables.localhostNodePorts'].value,
    ...optional('relayedLocalhost', relayedLocalhost(fields, mode)),
  };
}

function conntrackSettings(fields: ResolvedFields): ConntrackSettings {
  return {
    ...optional('maxPerCore', fields['conntrack.maxPerCore'].value || undefined),
    min: fields['conntrack.min'].value,
    ...optional(
      'tcpEstablishedTimeoutMs',
      fields['conntrack.tcpEstablishedTimeout'].value || undefined,
    ),
    ...optional(
      'tcpCloseWaitTimeoutMs',
      fields['conntrack.tcpCloseWaitTimeout'].value || undefined,
    ),
    tcpBeLiberal: fields['conntrack.tcpBeLiberal'].value,
    ...optional('udpTimeoutMs', fields['conntrack.udpTimeout'].value || undefined),
    ...optional('udpStreamTimeoutMs', fields['conntrack.udpStreamTimeout'].value || undefined),
  };
}

function listenAddress(text: string): ListenAddress {
  const address = parseListenAddress(text);
  if (address === undefined) throw new TypeError(`validation let ${JSON.stringify(text)} pass`);
  return address;
}

/** An absent property rather than one that is undefined, so that printed settings stay short. */
function optional<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [N in Name]?: Value } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [N in Name]?: Value };
}

function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  for (const inner of Object.values(value)) deepFreeze(inner);
  return Object.freeze(value);
}
