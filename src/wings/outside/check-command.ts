import { existsSync } from 'node:fs';
import { Command, Option } from 'commander';
import { CommandError } from '../../commands/command-error.ts';
import { printJson, printNote, printPage } from '../../commands/terminal/print.ts';
import { loadConfig } from '../../config/load-config.ts';
import { RUN_FOLDER } from '../../config/run-folder.ts';
import { effectiveCapabilities } from '../../linux/capabilities.ts';
import { agent, service } from './check/agent-ready.ts';
import { apiServer, rights, token } from './check/api-server.ts';
import { clusterDns, names } from './check/check-names.ts';
import { checkedData, checkView, verdictOf } from './check/check-view.ts';
import { clusterIps } from './check/cluster-ips.ts';
import { type ClusterView, readCluster } from './check/cluster-view.ts';
import { forwarding, reversePath } from './check/kernel-settings.ts';
import { readMachine } from './check/machine-view.ts';
import type { OutsideCheck } from './check/outside-check.ts';
import { podRanges, serviceRanges } from './check/overlap.ts';
import { podRoutes } from './check/pod-routes.ts';
import { otherProxies, ports } from './check/ports.ts';
import { runOutsideChecks } from './check/run-outside-checks.ts';
import { CONFIG_FILE } from './paths.ts';

const PROBLEMS_EXIT = 3;
const DEADLINE_MS = 30_000;
const USUAL_WIDTH = 80;

const CHECKS: readonly OutsideCheck[] = [
  apiServer,
  token,
  rights,
  serviceRanges,
  clusterIps,
  podRanges,
  podRoutes,
  reversePath,
  forwarding,
  ports,
  otherProxies,
  agent,
  clusterDns,
  names,
  service,
];

interface CheckOptions {
  readonly config: string;
  readonly runFolder: string;
  readonly output: 'text' | 'json';
}

/** `fairlead outside check`: whether this machine can reach the cluster's Services, and why not. */
export function checkCommand(): Command {
  return new Command('check')
    .description(
      `find out whether this machine can reach the Services of the cluster, and what is in the way; exit code ${PROBLEMS_EXIT} if there are problems`,
    )
    .option('--config <file>', 'the configuration file of Fairlead', CONFIG_FILE)
    .option('--run-folder <path>', 'the folder with the status socket of the agent', RUN_FOLDER)
    .addOption(new Option('-o, --output <form>').choices(['text', 'json']).default('text'))
    .action(check);
}

async function check({ config, runFolder, output }: CheckOptions): Promise<void> {
  assertCapable();
  if (config === CONFIG_FILE && !existsSync(config)) throw noConfig();
  const { settings } = await loadConfig(new Map([['config', [config]]]));
  const lifetime = new AbortController();
  const signal = AbortSignal.any([lifetime.signal, AbortSignal.timeout(DEADLINE_MS)]);
  let cluster: Promise<ClusterView> | undefined;
  const context = {
    settings,
    machine: await readMachine(),
    cluster: () => (cluster ??= readCluster(settings, signal)),
    runFolder,
    signal,
  };
  try {
    const checked = await runOutsideChecks(CHECKS, context, {
      deadlineMs: DEADLINE_MS,
      onSlow: (names) => printNote(`checking: ${names.join(', ')}`),
    });
    const verdict = verdictOf(checked);
    if (output === 'json') printJson({ ...verdict, checks: checked.map(checkedData) });
    else printPage(checkView(checked, process.stdout.columns ?? USUAL_WIDTH));
    if (verdict.problemCount > 0) process.exitCode = PROBLEMS_EXIT;
  } finally {
    lifetime.abort();
  }
}

function assertCapable(): void {
  if (effectiveCapabilities().has('NET_ADMIN')) return;
  throw new CommandError('cannot read the routes and rules of this machine without CAP_NET_ADMIN', {
    code: 'NOT_PERMITTED',
    next: 'run it with sudo',
  });
}

function noConfig(): CommandError {
  return new CommandError(`there is no ${CONFIG_FILE}`, {
    code: 'CONFIG_MISSING',
    next: 'make one with fairlead outside init --apply, or pass --config with the file of Fairlead',
  });
}
