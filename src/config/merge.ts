import { parseIpSloppily } from '../addresses/ip.ts';
import { FIELD_PATHS, FIELDS, type FieldPath, type FieldValue } from './fields/field-table.ts';
import type { Layer, Origin, Resolved, ResolvedFields } from './layers.ts';
import { isModeName, traitsOf } from './modes.ts';
import { withPort } from './network-text.ts';

type Draft = Map<FieldPath, Resolved<FieldValue>>;

const DEFAULT: Origin = { from: 'default' };

/** A file without a mode was written for kube-proxy's default, so these fields mean these. */
const MEANT_WITHOUT_MODE: readonly (readonly [FieldPath, FieldPath])[] = [
  ['iptables.masqueradeAll', 'nftables.masqueradeAll'],
  ['iptables.masqueradeBit', 'nftables.masqueradeBit'],
  ['iptables.syncPeriod', 'nftables.syncPeriod'],
  ['iptables.minSyncPeriod', 'nftables.minSyncPeriod'],
];

const EVERY_ADDRESS = ['0.0.0.0/0', '::/0'] as const;

const HEALTHZ_PORT = 10_256;
const METRICS_PORT = 10_249;

/** Defaults, then the file, then the flags; and at last the defaults that follow other fields. */
export function mergeLayers(file: Layer, flags: Layer): ResolvedFields {
  const draft: Draft = new Map();
  for (const path of FIELD_PATHS) {
    const row = FIELDS[path];
    const value = row.ownDefault ?? row.kubeProxyDefault;
    draft.set(path, flags.get(path) ?? file.get(path) ?? { value, origin: DEFAULT });
  }
  joinFilePatterns(draft, { file, flags });
  followBindAddress(draft, file);
  followMode(draft);
  followNodeObject(draft);
  // Every path has been set above, from a source that checked the kind of its value.
  return Object.freeze(Object.fromEntries(draft)) as ResolvedFields;
}

function joinFilePatterns(draft: Draft, { file, flags }: { file: Layer; flags: Layer }): void {
  const fromFlags = flags.get('logging.vmodule');
  const fromFile = file.get('logging.vmodule');
  if (fromFlags === undefined || fromFile === undefined) return;
  const value = [fromFlags.value, fromFile.value].flat() as FieldValue;
  draft.set('logging.vmodule', { ...fromFlags, value });
}

/** kube-proxy computes these defaults from the file alone: `--bind-address` does not move them. */
function followBindAddress(draft: Draft, file: Layer): void {
  const bindAddress = file.get('bindAddress');
  const isIpv6 =
    bindAddress !== undefined && parseIpSloppily(String(bindAddress.value))?.version === 6;
  setAddress(draft, {
    path: 'healthzBindAddress',
    ip: isIpv6 ? '::' : undefined,
    port: HEALTHZ_PORT,
  });
  setAddress(draft, {
    path: 'metricsBindAddress',
    ip: isIpv6 ? '::1' : undefined,
    port: METRICS_PORT,
  });
}

function setAddress(
  draft: Draft,
  { path, ip, port }: { path: FieldPath; ip: string | undefined; port: number },
): void {
  const current = draft.get(path);
  if (current === undefined) return;
  const text = current.origin.from === 'default' && ip !== undefined ? ip : String(current.value);
  draft.set(path, { ...current, value: withPort(text, port) });
}

/** What a node must offer and a machine without a Node object must not. */
const WITHOUT_NODE: readonly FieldPath[] = [
  'nodePortAddresses',
  'fairlead.clients',
  'fairlead.servedAddresses',
];
const FROM_NODE_OBJECT: Origin = { from: 'default', via: 'fairlead.nodeObject' };

function followNodeObject(draft: Draft): void {
  if (draft.get('fairlead.nodeObject')?.value !== 'none') return;
  for (const path of WITHOUT_NODE) {
    if (draft.get(path)?.origin.from === 'default') {
      draft.set(path, { value: [], origin: FROM_NODE_OBJECT });
    }
  }
  if (draft.get('fairlead.serviceRoutes')?.origin.from === 'default') {
    draft.set('fairlead.serviceRoutes', { value: 'missing', origin: FROM_NODE_OBJECT });
  }
  const health = draft.get('healthzBindAddress');
  if (health?.origin.from !== 'default') return;
  const ip = String(health.value).startsWith('[') ? '::1' : '127.0.0.1';
  draft.set('healthzBindAddress', { value: withPort(ip, HEALTHZ_PORT), origin: FROM_NODE_OBJECT });
}

function followMode(draft: Draft): void {
  const mode = draft.get('mode');
  const isChosen =
    mode?.origin.from !== 'default' || draft.get('fairlead.mode')?.origin.from !== 'default';
  if (!isChosen) {
    for (const [written, meant] of MEANT_WITHOUT_MODE) {
      const value = draft.get(written);
      if (value === undefined || value.origin.from === 'default') continue;
      draft.set(meant, { ...value, origin: { ...value.origin, via: written } });
    }
  }
  const addresses = draft.get('nodePortAddresses');
  if (!Array.isArray(addresses?.value) || addresses.value.length > 0) return;
  const name = String(mode?.value);
  const isKubeProxys = draft.get('fairlead.mode')?.value === '' && isModeName(name);
  if (isKubeProxys && traitsOf(name).servesAllAddresses) return;
  const value = isChosen ? ['primary'] : EVERY_ADDRESS;
  draft.set('nodePortAddresses', { value, origin: DEFAULT });
}
