import { setTimeout as delay } from 'node:timers/promises';
import { styleText } from 'node:util';
import { Command, Option } from 'commander';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import type { Difference } from '../dataplanes/contract.ts';

import { readDesired } from './desired.ts';
import { addKubeProxyFlags, givenFlags } from './kube-proxy-flags.ts';
import { knownAddresses } from './run/known-addresses.ts';
import { openPlane } from './run/plane.ts';
import { socketsNow } from './sockets-now.ts';
import type { SourceOptions } from './source.ts';
import { printJson, printNote, printPage } from './terminal/print.ts';

interface DiffOptions {
  readonly filename?: readonly string[];
  readonly output: 'text' | 'json';
}

const DIFFERENT = 3;
/** Something may be on its way between the API and the kernel: what is amiss twice is amiss. */
const SECOND_LOOK_AFTER_MS = 500;

/** `fairlead diff`: what the kernel should have against what it has. */
export function diffCommand(): Command {
  const command = new Command('diff')
    .description(
      `compare what the cluster wants of this node with what the kernel has; exit code ${DIFFERENT} if they differ`,
    )
    .option('-f, --filename <paths...>', 'manifests instead of a cluster')
    .addOption(new Option('-o, --output <form>').choices(['text', 'json']).default('text'));
  return addKubeProxyFlags(command).action(async (options: DiffOptions) => {
    const differences = await persistent(await loadConfig(givenFlags(command)), options);
    print(differences, options.output);
    // The program sets the exit code of a command that succeeded; this one has more to say.
    if (differences.length > 0) process.exitCode = DIFFERENT;
  });
}

async function persistent(
  config: LoadedConfig,
  options: DiffOptions,
): Promise<readonly Difference[]> {
  const first = await compare(config, options);
  if (first.length === 0) return [];
  await delay(SECOND_LOOK_AFTER_MS);
  const known = new Set(first.map(idOf));
  return (await compare(config, options)).filter((difference) => known.has(idOf(difference)));
}

async function compare(
  config: LoadedConfig,
  { filename }: DiffOptions,
): Promise<readonly Difference[]> {
  const { kubeconfigPath, serverUrl, accept } = config.settings.api;
  const from: SourceOptions = {
    ...(filename ? { filename } : {}),
    ...(kubeconfigPath === undefined ? {} : { kubeconfig: kubeconfigPath }),
    ...(serverUrl === undefined ? {} : { serverUrl }),
    ...(accept === undefined ? {} : { accept }),
  };
  const desired = await readDesired(config, from, {
    addresses: knownAddresses(),
    listSockets: () => socketsNow(),
  });
  const { mode, ebpf } = config.settings;
  return await openPlane(mode, { ebpf }).diff(desired);
}

function idOf({ kind, object }: Difference): string {
  return `${kind} ${object}`;
}

const SIGNS = { missing: '-', foreign: '+', different: '~' } as const;
const COLOURS = { missing: 'red', foreign: 'green', different: 'yellow' } as const;

function print(differences: readonly Difference[], output: DiffOptions['output']): void {
  if (output === 'json') {
    printJson(differences);
    return;
  }
  for (const { kind, object, service } of differences) {
    const line = `${SIGNS[kind]} ${object}${service === undefined ? '' : `  (${service})`}`;
    printPage(styleText(COLOURS[kind], line, { stream: process.stdout }));
  }
  const count = differences.length;
  printNote(
    count === 0
      ? 'the kernel has what the cluster wants'
      : `${count} differences: - missing in the kernel, + not wanted, ~ different`,
  );
}
