import type { FieldPath } from '../fields/field-table.ts';

/** A flag of kube-proxy's that stands for one or more fields of the file. */
interface FieldFlag {
  readonly sets: readonly FieldPath[];
  /** Counts beside a configuration file too. All others are ignored then, as kube-proxy does. */
  readonly besideFile?: true;
  readonly short?: string;
}

/** Flags of kube-proxy 1.37 that stand for fields of the configuration file. */
const FIELD_FLAGS = {
  'hostname-override': { sets: ['hostnameOverride'], besideFile: true },
  'bind-address': { sets: ['bindAddress'] },
  'healthz-bind-address': { sets: ['healthzBindAddress'] },
  'metrics-bind-address': { sets: ['metricsBindAddress'] },
  'bind-address-hard-fail': { sets: ['bindAddressHardFail'] },
  profiling: { sets: ['enableProfiling'] },
  'show-hidden-metrics-for-version': { sets: ['showHiddenMetricsForVersion'] },
  'oom-score-adj': { sets: ['oomScoreAdj'] },
  'feature-gates': { sets: ['featureGates'] },

  kubeconfig: { sets: ['clientConnection.kubeconfig'] },
  'kube-api-content-type': { sets: ['clientConnection.contentType'] },
  'kube-api-burst': { sets: ['clientConnection.burst'] },
  'kube-api-qps': { sets: ['clientConnection.qps'] },
  'config-sync-period': { sets: ['configSyncPeriod'] },

  'proxy-mode': { sets: ['mode'] },
  'detect-local-mode': { sets: ['detectLocalMode'] },
  'pod-bridge-interface': { sets: ['detectLocal.bridgeInterface'] },
  'pod-interface-name-prefix': { sets: ['detectLocal.interfaceNamePrefix'] },
  'cluster-cidr': { sets: ['clusterCIDR'] },
  'nodeport-addresses': { sets: ['nodePortAddresses'] },

  // The names contain iptables, but kube-proxy uses the periods for nftables as well.
  'masquerade-all': { sets: ['iptables.masqueradeAll', 'nftables.masqueradeAll'] },
  'iptables-masquerade-bit': { sets: ['iptables.masqueradeBit'] },
  'iptables-localhost-nodeports': { sets: ['iptables.localhostNodePorts'] },
  'iptables-sync-period': { sets: ['iptables.syncPeriod', 'nftables.syncPeriod'] },
  'iptables-min-sync-period': { sets: ['iptables.minSyncPeriod', 'nftables.minSyncPeriod'] },

  'ipvs-sync-period': { sets: ['ipvs.syncPeriod'] },
  'ipvs-min-sync-period': { sets: ['ipvs.minSyncPeriod'] },
  'ipvs-scheduler': { sets: ['ipvs.scheduler'] },
  'ipvs-exclude-cidrs': { sets: ['ipvs.excludeCIDRs'] },
  'ipvs-strict-arp': { sets: ['ipvs.strictARP'] },
  'ipvs-tcp-timeout': { sets: ['ipvs.tcpTimeout'] },
  'ipvs-tcpfin-timeout': { sets: ['ipvs.tcpFinTimeout'] },
  'ipvs-udp-timeout': { sets: ['ipvs.udpTimeout'] },

  'conntrack-max-per-core': { sets: ['conntrack.maxPerCore'] },
  'conntrack-min': { sets: ['conntrack.min'] },
  'conntrack-tcp-timeout-established': { sets: ['conntrack.tcpEstablishedTimeout'] },
  'conntrack-tcp-timeout-close-wait': { sets: ['conntrack.tcpCloseWaitTimeout'] },
  'conntrack-tcp-be-liberal': { sets: ['conntrack.tcpBeLiberal'] },
  'conntrack-udp-timeout': { sets: ['conntrack.udpTimeout'] },
  'conntrack-udp-timeout-stream': { sets: ['conntrack.udpStreamTimeout'] },

  v: { sets: ['logging.verbosity'], besideFile: true, short: 'v' },
  vmodule: { sets: ['logging.vmodule'], besideFile: true },
  'logging-format': { sets: ['logging.format'], besideFile: true },
  'log-flush-frequency': { sets: ['logging.flushFrequency'], besideFile: true },
  'log-text-split-stream': { sets: ['logging.options.text.splitStream'], besideFile: true },
  'log-text-info-buffer-size': { sets: ['logging.options.text.infoBufferSize'], besideFile: true },
  'log-json-split-stream': { sets: ['logging.options.json.splitStream'], besideFile: true },
  'log-json-info-buffer-size': { sets: ['logging.options.json.infoBufferSize'], besideFile: true },
} as const satisfies Record<string, FieldFlag>;

/** A flag that requests an action, or that sets something no field can express. */
export interface StartFlag {
  readonly value: 'text' | 'boolean' | 'int32';
  readonly about: string;
  /** Accepted so that command lines work unchanged, and without effect: the reason. */
  readonly noEffect?: string;
}

/** A command line of an older release still starts; kube-proxy would end with "unknown flag". */
const GONE_IN_1_37 = 'It had no effect in kube-proxy either, and kube-proxy 1.37 removed it.';

export const START_FLAGS = {
  config: { value: 'text', about: 'the configuration file' },
  master: {
    value: 'text',
    about: 'address of the API server; overrides the one in the kubeconfig',
  },
  'write-config-to': { value: 'text', about: 'write the configuration to this file and exit' },
  cleanup: { value: 'boolean', about: 'remove everything that was written to the kernel and exit' },
  'init-only': {
    value: 'boolean',
    about: 'do the initialization that needs full privileges and exit',
  },
  version: { value: 'text', about: 'print the version and exit' },
  'healthz-port': {
    value: 'int32',
    about: 'port of --healthz-bind-address if that has none; 0 disables the server (deprecated)',
  },
  'metrics-port': {
    value: 'int32',
    about: 'port of --metrics-bind-address if that has none (deprecated)',
  },
  'boot-id-file': {
    value: 'text',
    about: 'files with the boot id',
    noEffect: GONE_IN_1_37,
  },
  'machine-id-file': {
    value: 'text',
    about: 'files with the machine id',
    noEffect: GONE_IN_1_37,
  },
} as const satisfies Record<string, StartFlag>;

export type FieldFlagName = keyof typeof FIELD_FLAGS;
export type StartFlagName = keyof typeof START_FLAGS;
export type FlagName = FieldFlagName | StartFlagName;

export const FLAG_NAMES: readonly FlagName[] = [
  ...Object.keys(START_FLAGS).filter(isStartFlag),
  ...Object.keys(FIELD_FLAGS).filter(isFieldFlag),
];

export function fieldFlag(name: FieldFlagName): FieldFlag {
  return FIELD_FLAGS[name];
}

export function startFlag(name: StartFlagName): StartFlag {
  return START_FLAGS[name];
}

export function isFieldFlag(name: string): name is FieldFlagName {
  return Object.hasOwn(FIELD_FLAGS, name);
}

export function isFlagName(name: string): name is FlagName {
  return isFieldFlag(name) || isStartFlag(name);
}

function isStartFlag(name: string): name is StartFlagName {
  return Object.hasOwn(START_FLAGS, name);
}
