import { readFile } from 'node:fs/promises';
import { ConfigError } from './config-error.ts';
import { type FileReading, readConfigText } from './config-file.ts';
import { type Problem, sortProblems } from './config-problem.ts';
import { featureGateWarnings } from './feature-gates.ts';
import { FIELDS, type FieldPath } from './fields/field-table.ts';
import { type GivenFlags, readFlags, type StartWishes } from './flags/read.ts';
import { ipvsWarnings } from './ipvs-block.ts';
import type { ResolvedFields } from './layers.ts';
import { localhostWarnings } from './localhost-node-ports.ts';
import { mergeLayers } from './merge.ts';
import { modeOf, resolveSettings } from './resolve.ts';
import { rangeWarnings, scopeWarnings } from './scope-settings.ts';
import type { Settings } from './settings.ts';
import { isReadIn, validateFields } from './validate.ts';
import { toGivenYaml } from './write.ts';

/** A valid configuration and its origins. */
export interface LoadedConfig {
  readonly settings: Settings;
  /** The same by field of the file, with the origin of each. */
  readonly fields: ResolvedFields;
  readonly wishes: StartWishes;
  /** The flags as they were given. */
  readonly flags: GivenFlags;
  readonly warnings: readonly Problem[];
}

const NO_FILE: FileReading = { layer: new Map(), problems: [], warnings: [] };

/** Reads the flags and the file they name. Throws a ConfigError that names every fault. */
export async function loadConfig(flags: GivenFlags): Promise<LoadedConfig> {
  const path = readFlags(flags).wishes.configPath;
  return buildConfig(flags, path === undefined ? undefined : await readText(path));
}

export interface ConfigText {
  readonly path: string;
  readonly text: string;
}

/** The same for a given text. */
export function buildConfig(flags: GivenFlags, file: ConfigText | undefined): LoadedConfig {
  const fromFlags = readFlags(flags);
  const fromFile = file === undefined ? NO_FILE : readConfigText(file.text, file.path);
  const fields = mergeLayers(fromFile.layer, fromFlags.layer);
  const problems = [...fromFile.problems, ...fromFlags.problems, ...validateFields(fields)];
  if (problems.length > 0) throw new ConfigError('CONFIG_INVALID', sortProblems(problems));
  return {
    settings: resolveSettings(fields, fromFlags.wishes),
    fields,
    wishes: fromFlags.wishes,
    flags,
    warnings: sortProblems([
      ...fromFile.warnings,
      ...fromFlags.warnings,
      ...flagsForOtherModes(fields),
      ...featureGateWarnings(fields),
      ...localhostWarnings(fields, modeOf(fields)),
      ...scopeWarnings(fields),
      ...rangeWarnings(fields),
      ...ipvsWarnings(fields, modeOf(fields)),
    ]),
  };
}

/** A file may contain blocks of all modes, but a flag without effect deserves a warning. */
function flagsForOtherModes(fields: ResolvedFields): readonly Problem[] {
  const mode = modeOf(fields);
  const used = new Set<string>();
  const unused = new Map<string, FieldPath>();
  for (const [path, { origin }] of Object.entries(fields) as [
    FieldPath,
    { origin: ResolvedFields[FieldPath]['origin'] },
  ][]) {
    if (origin.from !== 'flag') continue;
    if (isReadIn(mode, FIELDS[path])) used.add(origin.flag);
    else unused.set(origin.flag, path);
  }
  return [...unused]
    .filter(([flag]) => !used.has(flag))
    .map(([flag]) => ({ subject: `--${flag}`, message: `has no effect in mode ${mode}` }));
}

async function readText(path: string): Promise<ConfigText> {
  try {
    return { path, text: await readFile(path, 'utf8') };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const problem = { subject: '--config', message: `cannot read ${path}: ${reason}` };
    throw new ConfigError('CONFIG_UNREADABLE', [problem], cause);
  }
}

const MODE_FIELDS: ReadonlySet<FieldPath> = new Set(['mode', 'fairlead.mode']);

/**
 * A configuration with flags that win over it, other than beside `--config`, where kube-proxy lets
 * only a few of them count. Defaults that follow the mode follow the mode of the flags.
 */
export function overlaid({ fields, settings }: LoadedConfig, flags: GivenFlags): LoadedConfig {
  const { serverUrl } = settings.api;
  const all = new Map(flags);
  if (serverUrl !== undefined && !all.has('master')) all.set('master', [serverUrl]);
  const text = toGivenYaml(fields, all.has('proxy-mode') ? MODE_FIELDS : new Set());
  return buildConfig(all, { path: 'the configuration', text });
}
