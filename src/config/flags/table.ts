import { FIELD_FLAGS, type FieldFlag } from './field-flags.ts';

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
