import { isAbsolute, resolve } from 'node:path';
import { parseCidr } from '../addresses/cidr.ts';
import { parseIpSloppily } from '../addresses/ip.ts';
import type { Problem } from './config-problem.ts';
import { formatDuration } from './duration.ts';
import { gateValue } from './feature-gates.ts';
import type { FieldRow } from './fields/field-row.ts';
import { FIELD_PATHS, FIELDS, type FieldPath } from './fields/field-table.ts';
import type { ResolvedFields } from './layers.ts';
import { KUBE_PROXY_MODES, MODE_NAMES, type ModeName, modesWith, traitsOf } from './modes.ts';
import { parseListenAddress } from './network-text.ts';
import { nodePortAddressFaults } from './node-port-addresses.ts';
import { clusterCidrs, modeOf } from './resolve.ts';
import {
  notADomain,
  notANamedService,
  notANamespace,
  notAnAddress,
  notASelector,
  notAServiceRange,
  notAZone,
  scopeTooLarge,
} from './scope-settings.ts';

/** A check of one field; returns the fault, or undefined. */
type Fault = string | undefined;

/** All values that kube-proxy would reject. */
export function validateFields(fields: ResolvedFields): readonly Problem[] {
  const mode = modeOf(fields);
  return FIELD_PATHS.filter((path) => isReadIn(mode, FIELDS[path])).flatMap((path) =>
    faultsOf(path, fields).map((message) => problemOf(path, { fields, message })),
  );
}

/** kube-proxy does not check the blocks of other modes, so neither does Fairlead. */
export function isReadIn(mode: ModeName, row: FieldRow): boolean {
  return row.modes === undefined || row.modes.includes(mode);
}

function faultsOf(path: FieldPath, fields: ResolvedFields): readonly string[] {
  const { value } = fields[path];
  const row = FIELDS[path];
  const special = (SPECIAL[path]?.(fields) ?? []).filter((fault) => fault !== undefined);
  if (special.length > 0) return special;
  const general =
    typeof value === 'number'
      ? outOfBounds(value, row)
      : typeof value === 'string'
        ? notAChoice(value, row)
        : undefined;
  return general === undefined ? [] : [general];
}

function problemOf(
  path: FieldPath,
  { fields, message }: { fields: ResolvedFields; message: string },
): Problem {
  const { origin } = fields[path];
  if (origin.from === 'file') return { subject: origin.via ?? path, message, place: origin.place };
  return { subject: origin.from === 'flag' ? `--${origin.flag}` : path, message };
}

function outOfBounds(value: number, { kind, min, max, aboveZero }: FieldRow): Fault {
  const show = (bound: number): string =>
    kind === 'duration' ? formatDuration(bound) : String(bound);
  if (aboveZero && value <= 0) return `must be greater than 0, and is ${show(value)}`;
  if (min !== undefined && max !== undefined && (value < min || value > max)) {
    return `must be from ${min} to ${max}, and is ${value}`;
  }
  if (min !== undefined && value < min) {
    return `must be ${show(min)} or more, and is ${show(value)}`;
  }
  return undefined;
}

function notAChoice(value: string, { choices, zeroIsUnset }: FieldRow): Fault {
  if (choices === undefined || choices.includes(value)) return undefined;
  if (zeroIsUnset && value === '') return undefined;
  return `must be one of ${choices.join(', ')}, and is ${JSON.stringify(value)}`;
}

const SPECIAL: { readonly [P in FieldPath]?: (fields: ResolvedFields) => readonly Fault[] } = {
  mode: modeFaults,
  bindAddress: ({ bindAddress }) => [
    parseIpSloppily(bindAddress.value) === undefined
      ? `${JSON.stringify(bindAddress.value)} is not an IP address`
      : undefined,
  ],
  healthzBindAddress: ({ healthzBindAddress }) => [notListenable(healthzBindAddress.value)],
  metricsBindAddress: ({ metricsBindAddress }) => [notListenable(metricsBindAddress.value)],
  nodePortAddresses: ({ nodePortAddresses }) => nodePortAddressFaults(nodePortAddresses.value),
  clusterCIDR: clusterCidrFaults,
  'detectLocal.bridgeInterface': (fields) => [
    emptyWhen('BridgeInterface', fields, 'detectLocal.bridgeInterface'),
  ],
  'detectLocal.interfaceNamePrefix': (fields) => [
    emptyWhen('InterfaceNamePrefix', fields, 'detectLocal.interfaceNamePrefix'),
  ],
  'fairlead.clients': (fields) => clientFaults(fields['fairlead.clients'].value),
  'fairlead.servedAddresses': (fields) =>
    fields['fairlead.servedAddresses'].value.map(notServedAddresses),
  'fairlead.zone': (fields) => [notAZone(fields['fairlead.zone'].value)],
  'fairlead.scope.namespaces': (fields) => [
    ...fields['fairlead.scope.namespaces'].value.map(notANamespace),
    scopeTooLarge(fields),
  ],
  'fairlead.scope.services': (fields) =>
    fields['fairlead.scope.services'].value.map(notANamedService),
  'fairlead.scope.serviceSelector': (fields) => [
    notASelector(fields['fairlead.scope.serviceSelector'].value),
  ],
  'fairlead.serviceRanges': (fields) =>
    fields['fairlead.serviceRanges'].value.map(notAServiceRange),
  'fairlead.dnsStub': (fields) => [notEmptyNorListenable(fields['fairlead.dnsStub'].value)],
  'fairlead.podNetwork': (fields) => [podNetworkFault(fields)],
  'fairlead.clusterDNS': (fields) => fields['fairlead.clusterDNS'].value.map(notAnAddress),
  'fairlead.clusterDomain': (fields) => [notADomain(fields['fairlead.clusterDomain'].value)],
  'fairlead.pinFolder': (fields) => [notForPins(fields['fairlead.pinFolder'].value)],
  'ipvs.excludeCIDRs': (fields) => fields['ipvs.excludeCIDRs'].value.map(notACidr),
  'iptables.minSyncPeriod': (fields) => [longerThanSync('iptables', fields)],
  'nftables.minSyncPeriod': (fields) => [longerThanSync('nftables', fields)],
  'ipvs.minSyncPeriod': (fields) => [longerThanSync('ipvs', fields)],
};

function modeFaults(fields: ResolvedFields): readonly Fault[] {
  const { mode } = fields;
  if (isOwnMode(mode.value)) {
    return [
      `${mode.value} is a mode that kube-proxy does not have: set it in fairlead.mode, which kube-proxy ignores`,
    ];
  }
  if (mode.value === '') return [];
  const known = KUBE_PROXY_MODES.find((each) => each === mode.value);
  if (known === undefined) {
    return [`must be one of ${MODE_NAMES.join(', ')}, and is ${JSON.stringify(mode.value)}`];
  }
  // kube-proxy 1.37 accepts ipvs only while its gate is on.
  const { gate } = traitsOf(known);
  if (gate === undefined || gateValue(fields, gate)) return [];
  return [`cannot be ${known} while the feature gate ${gate} is disabled`];
}

function isOwnMode(mode: string): boolean {
  const all = FIELDS['fairlead.mode'].choices ?? [];
  return all.includes(mode) && !(FIELDS.mode.choices ?? []).includes(mode);
}

/** The bpf file system itself, where other programs have pins too. */
const SHARED_FOLDERS = ['/', '/sys', '/sys/fs', '/sys/fs/bpf'];

function notForPins(folder: string): Fault {
  if (isAbsolute(folder) && !SHARED_FOLDERS.includes(resolve(folder))) return undefined;
  return `must be a folder that only Fairlead uses, such as /sys/fs/bpf/fairlead, and is ${JSON.stringify(folder)}`;
}

function notListenable(text: string): Fault {
  if (parseListenAddress(text) !== undefined) return undefined;
  return `must be an IP address with a port from 1 to 65535, and is ${JSON.stringify(text)}`;
}

function notEmptyNorListenable(text: string): Fault {
  return text === '' ? undefined : notListenable(text);
}

/** On a node pods must be reached by packets: other protocols, and answers to pods, need them. */
function podNetworkFault(fields: ResolvedFields): Fault {
  const { value } = fields['fairlead.podNetwork'];
  if (value !== 'api-server') return notAChoice(value, FIELDS['fairlead.podNetwork']);
  if (fields['fairlead.nodeObject'].value !== 'none') {
    return 'may be "api-server" only with fairlead.nodeObject "none"';
  }
  if (traitsOf(modeOf(fields)).hasApiServerNetwork) return undefined;
  const possible = modesWith(({ hasApiServerNetwork }) => hasApiServerNetwork === true);
  return `may be "api-server" only in mode ${possible.join(', ')}`;
}

function notACidr(text: string): Fault {
  if (parseCidr(text) !== undefined) return undefined;
  return `must contain CIDRs such as 10.0.0.0/8, and contains ${JSON.stringify(text)}`;
}

/** IFNAMSIZ without the final NUL. */
const MOST_NAME_BYTES = 15;

function clientFaults(clients: readonly string[]): readonly Fault[] {
  if (clients.includes('everybody')) {
    return [clients.length > 1 ? 'cannot contain "everybody" together with interfaces' : undefined];
  }
  return clients.map((name) => {
    const isName = /^[^\s/*+!]+\*?$/.test(name) && Buffer.byteLength(name) <= MOST_NAME_BYTES;
    return isName
      ? undefined
      : `must contain names of interfaces such as docker0 or br-*, and contains ${JSON.stringify(name)}`;
  });
}

const SERVED_ADDRESSES = ['externalIPs', 'loadBalancerIPs', 'allClusterIPs'];

function notServedAddresses(text: string): Fault {
  if (SERVED_ADDRESSES.includes(text)) return undefined;
  return `must contain only ${SERVED_ADDRESSES.join(', ')}, and contains ${JSON.stringify(text)}`;
}

function clusterCidrFaults(fields: ResolvedFields): readonly Fault[] {
  if (fields.detectLocalMode.value !== 'ClusterCIDR') return [];
  const cidrs = clusterCidrs(fields);
  const faults = cidrs.map(notACidr);
  if (faults.some((fault) => fault !== undefined)) return faults;
  const families = new Set(cidrs.map((cidr) => parseCidr(cidr)?.base.version));
  return [
    families.size < cidrs.length
      ? 'must be one CIDR, or an IPv4 and an IPv6 CIDR separated by a comma'
      : undefined,
  ];
}

function emptyWhen(
  mode: string,
  fields: ResolvedFields,
  path: 'detectLocal.bridgeInterface' | 'detectLocal.interfaceNamePrefix',
): Fault {
  if (fields.detectLocalMode.value !== mode || fields[path].value !== '') return undefined;
  return `must not be empty when detectLocalMode is ${mode}`;
}

function longerThanSync(block: 'iptables' | 'nftables' | 'ipvs', fields: ResolvedFields): Fault {
  const least = fields[`${block}.minSyncPeriod`].value;
  const most = fields[`${block}.syncPeriod`].value;
  // A period of zero is reported separately.
  if (least <= most || most <= 0) return undefined;
  return `must not be longer than ${block}.syncPeriod (${formatDuration(most)}), and is ${formatDuration(least)}`;
}
