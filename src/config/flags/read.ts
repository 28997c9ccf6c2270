import type { Problem } from '../config-problem.ts';
import { FIELDS, type FieldPath, type FieldValue } from '../fields/field-table.ts';
import type { Layer, Resolved } from '../layers.ts';
import { isModeName, KUBE_PROXY_MODES } from '../modes.ts';
import { splitHostPort, withPort } from '../network-text.ts';
import {
  type FieldFlagName,
  type FlagName,
  fieldFlag,
  isFieldFlag,
  startFlag,
} from './flag-table.ts';
import { parseBoolean, parseFlagValues, parseInt32 } from './values.ts';

/** The flags of a command line: for each the texts it was given, in order. */
export type GivenFlags = ReadonlyMap<FlagName, readonly string[]>;

/** What the command line requests besides settings. */
export interface StartWishes {
  readonly configPath?: string;
  readonly serverUrl?: string;
  readonly writeConfigToPath?: string;
  readonly cleanup: boolean;
  readonly initOnly: boolean;
  readonly version: boolean;
  /** `--healthz-port=0`, the only way to have no health server. */
  readonly healthServerOff: boolean;
}

export interface FlagReading {
  readonly layer: Layer;
  readonly wishes: StartWishes;
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

interface Findings {
  readonly layer: Map<FieldPath, Resolved<FieldValue>>;
  readonly problems: Problem[];
  readonly warnings: Problem[];
}

/** Reads flags with kube-proxy's precedence: beside a configuration file only a few of them count. */
export function readFlags(given: GivenFlags): FlagReading {
  const findings: Findings = { layer: new Map(), problems: [], warnings: [] };
  const configPath = last(given, 'config');
  const hasFile = configPath !== undefined && configPath !== '';
  for (const [name, texts] of given) {
    if (texts.length === 0) continue;
    if (!isFieldFlag(name)) warnWithoutEffect(name, findings);
    else if (hasFile && fieldFlag(name).besideFile === undefined) {
      findings.warnings.push(warning(name, 'is ignored, because --config is given'));
    } else readFieldFlag(name, texts, findings);
  }
  const healthServerOff = readPorts(given, { hasFile, findings });
  return {
    layer: findings.layer,
    problems: findings.problems,
    warnings: findings.warnings,
    wishes: { ...readWishes(given, findings), healthServerOff },
  };
}

function readFieldFlag(name: FieldFlagName, texts: readonly string[], findings: Findings): void {
  const { sets } = fieldFlag(name);
  const [first] = sets;
  if (first === undefined) return;
  const row = FIELDS[first];
  const result = parseFlagValues(row.kind, texts);
  if ('wrong' in result) {
    const message = `${JSON.stringify(result.wrong)} is not ${result.expected}`;
    findings.problems.push({ subject: `--${name}`, message });
    return;
  }
  // The empty text leaves the default; a zero counts, other than in a file.
  if (result.value === '') return;
  const value = name === 'hostname-override' ? nodeName(String(result.value)) : result.value;
  if (value === '') {
    findings.problems.push({ subject: `--${name}`, message: 'must not be empty' });
    return;
  }
  for (const path of name === 'proxy-mode' ? modeFields(String(value)) : sets) {
    findings.layer.set(path, { value, origin: { from: 'flag', flag: name } });
  }
  if (row.noEffect !== undefined)
    findings.warnings.push(warning(name, withoutEffect(row.noEffect)));
}

/** Names of nodes are lower-case. */
function nodeName(text: string): string {
  return text.trim().toLowerCase();
}

/** A command line need not stay readable for kube-proxy, so one flag names every mode. */
function modeFields(mode: string): readonly FieldPath[] {
  const isOurs = isModeName(mode) && !KUBE_PROXY_MODES.some((known) => known === mode);
  return isOurs ? ['fairlead.mode'] : ['mode'];
}

function warnWithoutEffect(name: Exclude<FlagName, FieldFlagName>, { warnings }: Findings): void {
  const { noEffect } = startFlag(name);
  if (noEffect !== undefined) warnings.push(warning(name, withoutEffect(noEffect)));
}

function readWishes(
  given: GivenFlags,
  { problems }: Findings,
): Omit<StartWishes, 'healthServerOff'> {
  const text = (name: FlagName): string | undefined => last(given, name) || undefined;
  const isSet = (name: FlagName): boolean => {
    const written = last(given, name);
    const value = written === undefined ? false : parseBoolean(written);
    if (value === undefined) {
      const message = `${JSON.stringify(written)} is not true or false`;
      problems.push({ subject: `--${name}`, message });
    }
    return value === true;
  };
  const configPath = text('config');
  const serverUrl = text('master');
  const writeConfigToPath = text('write-config-to');
  return {
    ...(configPath === undefined ? {} : { configPath }),
    ...(serverUrl === undefined ? {} : { serverUrl }),
    ...(writeConfigToPath === undefined ? {} : { writeConfigToPath }),
    cleanup: isSet('cleanup'),
    initOnly: isSet('init-only'),
    version: last(given, 'version') !== undefined && last(given, 'version') !== 'false',
  };
}

const SERVERS = [
  { flag: 'healthz-port', path: 'healthzBindAddress', port: 10_256 },
  { flag: 'metrics-port', path: 'metricsBindAddress', port: 10_249 },
] as const;

/**
 * The deprecated port flags, with their pitfalls; returns whether the health server is switched
 * off.
 */
function readPorts(
  given: GivenFlags,
  { hasFile, findings }: { hasFile: boolean; findings: Findings },
): boolean {
  let healthServerOff = false;
  for (const { flag, path, port: usual } of SERVERS) {
    const text = last(given, flag);
    const port = text === undefined ? usual : parseInt32(text);
    const address = findings.layer.get(path);
    if (port === undefined) {
      const message = `${JSON.stringify(text)} is not an integer`;
      findings.problems.push({ subject: `--${flag}`, message });
    } else if (hasFile) {
      if (text !== undefined) {
        findings.warnings.push(warning(flag, 'is ignored, because --config is given'));
      }
    } else if (port === 0 && flag === 'healthz-port') healthServerOff = true;
    else if (port === 0) {
      const message = 'must not be 0: the metrics server cannot be disabled';
      findings.problems.push({ subject: `--${flag}`, message });
    } else if (address !== undefined && splitHostPort(String(address.value)) === undefined) {
      findings.layer.set(path, { ...address, value: withPort(String(address.value), port) });
    } else if (text !== undefined && port !== usual) {
      const other = flag.replace('port', 'bind-address');
      findings.warnings.push(
        warning(flag, `has no effect, as in kube-proxy: set the port with --${other}`),
      );
    }
  }
  return healthServerOff;
}

function warning(name: FlagName, message: string): Problem {
  return { subject: `--${name}`, message };
}

function withoutEffect(reason: string): string {
  return `has no effect. ${reason}`;
}

function last(given: GivenFlags, name: FlagName): string | undefined {
  return given.get(name)?.at(-1);
}
