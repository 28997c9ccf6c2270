import type { Problem } from './config-problem.ts';
import type { ResolvedFields } from './layers.ts';
import type { FeatureSettings } from './settings.ts';

/** Supported gates, with the default of kube-proxy. */
const MEANINGFUL = {
  AllowServiceExternalIPs: true,
  ComponentFlagz: true,
  ComponentStatusz: true,
  KubeProxyIPVS: true,
  KubeProxyNFTablesLocalhostNodePorts: false,
} as const;

/** Gates that kube-proxy 1.37 has locked to enabled, as Fairlead does. */
const ALWAYS_ON: readonly string[] = [
  'MultiCIDRServiceAllocator',
  'NFTablesProxyMode',
  'PreferSameTrafficDistribution',
];

/** Gates that kube-proxy can disable and Fairlead cannot. */
const NOT_TO_SWITCH_OFF: Readonly<Record<string, string>> = {
  NFTablesNetlink: 'has no effect when disabled: Fairlead always uses netlink and never runs nft',
};

/** Stage of each gate in Kubernetes 1.37, as in its metrics; empty: GA. */
const STAGES: Readonly<Record<string, string>> = {
  AllowServiceExternalIPs: '',
  ComponentFlagz: 'BETA',
  ComponentStatusz: 'BETA',
  KubeProxyIPVS: 'DEPRECATED',
  KubeProxyNFTablesLocalhostNodePorts: 'ALPHA',
  MultiCIDRServiceAllocator: '',
  NFTablesNetlink: 'BETA',
  NFTablesProxyMode: '',
  PreferSameTrafficDistribution: '',
};

export interface FeatureState {
  readonly name: string;
  readonly stage: string;
  readonly isOn: boolean;
}

/** All supported gates and their states, by name. */
export function featureStates(fields: Pick<ResolvedFields, 'featureGates'>): FeatureState[] {
  const isOn = (name: string): boolean => !isMeaningful(name) || gateValue(fields, name);
  return Object.entries(STAGES).map(([name, stage]) => ({ name, stage, isOn: isOn(name) }));
}

function isMeaningful(name: string): name is MeaningfulGate {
  return Object.hasOwn(MEANINGFUL, name);
}

type MeaningfulGate = keyof typeof MEANINGFUL;

export function gateValue(
  { featureGates }: Pick<ResolvedFields, 'featureGates'>,
  name: MeaningfulGate,
): boolean {
  const written = Object.hasOwn(featureGates.value, name) ? featureGates.value[name] : undefined;
  return written ?? MEANINGFUL[name];
}

export function featureSettings(
  fields: ResolvedFields,
): Omit<FeatureSettings, 'localhostNodePorts'> {
  return {
    serviceExternalIps: gateValue(fields, 'AllowServiceExternalIPs'),
    flagzPage: gateValue(fields, 'ComponentFlagz'),
    statuszPage: gateValue(fields, 'ComponentStatusz'),
  };
}

/**
 * Gates change with every release, and not starting because of an unknown name would take a node
 * down: this warns where kube-proxy exits with an error.
 */
export function featureGateWarnings({ featureGates }: ResolvedFields): readonly Problem[] {
  const place = featureGates.origin.from === 'file' ? { place: featureGates.origin.place } : {};
  return Object.entries(featureGates.value).flatMap(([name, isOn]) => {
    const message = warningOf(name, isOn);
    return message === undefined ? [] : [{ subject: `featureGates.${name}`, message, ...place }];
  });
}

function warningOf(name: string, isOn: boolean): string | undefined {
  if (isMeaningful(name)) return undefined;
  if (ALWAYS_ON.includes(name)) {
    return isOn ? undefined : 'cannot be disabled; kube-proxy would refuse to start';
  }
  if (Object.hasOwn(NOT_TO_SWITCH_OFF, name)) return isOn ? undefined : NOT_TO_SWITCH_OFF[name];
  return 'is not a feature gate of Fairlead and is ignored';
}
