import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import type { Logger } from 'pino';
import { Events } from '../agent/events.ts';
import { ApiSource } from '../cluster/api-source.ts';
import type { Source } from '../cluster/source.ts';
import { type LoadedConfig, loadConfig } from '../config/load.ts';
import { planChange } from '../config/plan.ts';
import { formatProblem } from '../config/problem.ts';
import type { Settings } from '../config/settings.ts';
import { watchConfig } from '../config/watch.ts';
import { toConfigurationYaml } from '../config/write.ts';
import { onlineCpuCount, setConntrackLimits } from '../linux/conntrack-limits.ts';
import { setOomScore } from '../linux/oom-score.ts';
import { routeLocalnet } from '../linux/route-localnet.ts';
import { kernelSysctls } from '../linux/sysctl.ts';
import { cleanUp } from './cleanup.ts';
import { addKubeProxyFlags, givenFlags } from './kube-proxy-flags.ts';
import { RUN_FOLDER, SYSCTL_STATE } from './run/folder.ts';
import { openLog } from './run/logger.ts';
import { removeOtherModes } from './run/other-modes.ts';
import { openPlane } from './run/plane.ts';
import { type AssembledProxy, assembleProxy } from './run/proxy.ts';
import { VERSION } from './run/version.ts';
import { openSource, type SourceOptions } from './source.ts';

interface RunOptions {
  readonly filename?: readonly string[];
  readonly runFolder: string;
}

/** `fairlead run`: makes Service addresses work on this machine, until it is told to stop. */
export function runCommand(): Command {
  const command = new Command('run')
    .description('make every Service address work on this machine, as kube-proxy does')
    .option(
      '-f, --filename <paths...>',
      'manifests instead of a cluster: files or folders, watched',
    )
    .option('--run-folder <path>', 'where the status socket is', RUN_FOLDER);
  return addKubeProxyFlags(command).action(async (options: RunOptions) => {
    const flags = givenFlags(command);
    const config = await loadConfig(flags);
    const isDone = await carryOut(config, options);
    if (!isDone) await run({ config, load: () => loadConfig(flags), options });
  });
}

/** What kube-proxy does instead of running when it is asked to; whether it was. */
async function carryOut(config: LoadedConfig, { runFolder }: RunOptions): Promise<boolean> {
  const { version, writeConfigToPath, cleanup } = config.wishes;
  if (version) console.log(`fairlead ${VERSION}`);
  else if (writeConfigToPath !== undefined) {
    await writeFile(writeConfigToPath, toConfigurationYaml(config.fields));
  } else if (cleanup) await cleanUp({ runFolder });
  else return false;
  return true;
}

interface Start {
  readonly config: LoadedConfig;
  readonly load: () => Promise<LoadedConfig>;
  readonly options: RunOptions;
}

async function run({ config, load, options }: Start): Promise<void> {
  const { settings } = config;
  const log = openLog(settings.log);
  for (const warning of config.warnings) log.warn(formatProblem(warning));
  const nodeName = settings.nodeName ?? hostname().toLowerCase();
  const lifetime = new AbortController();
  const stop = (name: NodeJS.Signals) => {
    log.info({ signal: name }, 'stopping; the rules stay');
    lifetime.abort();
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  await prepareMachine(settings, { log, runFolder: options.runFolder });
  if (config.wishes.initOnly) return;
  const source = await openSource(
    sourceOptions(settings, options),
    watchedNode(settings, nodeName),
  );
  const events = new Events({
    about: { nodeName, hostName: hostname() },
    post: (path, body, signal) => postTo(source, { path, body }, signal),
    onProblem: (error) => log.debug(`event: ${String(error)}`),
  });
  const plane = openPlane(settings.mode, {
    onWarning: (message) => log.warn(message),
    serveLocalhost: async () => {
      const change = await routeLocalnet(kernelSysctls(), join(options.runFolder, SYSCTL_STATE));
      if (change) log.info({ ...change }, 'set');
    },
  });
  let replaced = Promise.resolve();
  const proxy = assembleProxy({
    onFirstSync: () => {
      replaced = removeOtherModes(settings.mode, log);
    },
    config,
    nodeName,
    source,
    plane,
    events,
    log,
    runFolder: options.runFolder,
  });
  log.info({ node: nodeName, mode: settings.mode, pid: process.pid }, 'starting');
  events.starting('');
  const following = followConfig({ config, load, proxy, log }, lifetime.signal);
  try {
    await proxy.run(lifetime.signal);
  } finally {
    lifetime.abort();
    await following;
    await replaced;
  }
}

function sourceOptions(settings: Settings, options: RunOptions): SourceOptions {
  const { kubeconfigPath, serverUrl, accept } = settings.api;
  return {
    watch: true,
    ...(options.filename ? { filename: options.filename } : {}),
    ...(kubeconfigPath === undefined ? {} : { kubeconfig: kubeconfigPath }),
    ...(serverUrl === undefined ? {} : { serverUrl }),
    ...(accept === undefined ? {} : { accept }),
  };
}

function watchedNode(settings: Settings, nodeName: string): string | undefined {
  return settings.nodeObject === 'none' ? undefined : nodeName;
}

async function postTo(
  source: Source,
  event: { path: string; body: object },
  signal: AbortSignal,
): Promise<void> {
  if (source instanceof ApiSource) {
    await source.create({ path: event.path, object: event.body }, signal);
  }
}

/** Limits of connection tracking, and how dear we are to the kernel when memory runs out. */
async function prepareMachine(
  settings: Settings,
  of: { log: Logger; runFolder: string },
): Promise<void> {
  const { log } = of;
  await setOomScore({
    score: settings.oomScoreAdj,
    onProblem: (error) => log.warn({ code: error.code }, error.message),
  });
  const { changes, problems } = await setConntrackLimits(
    { ...settings.conntrack, cpuCount: onlineCpuCount() },
    kernelSysctls(),
    join(of.runFolder, SYSCTL_STATE),
  );
  for (const { name, before, after } of changes) log.info({ name, before, after }, 'set');
  for (const problem of problems) log.warn({ code: problem.code }, problem.message);
}

/** Follows the file: what can change while running does, the rest is told. */
async function followConfig(
  of: {
    config: LoadedConfig;
    load: () => Promise<LoadedConfig>;
    proxy: AssembledProxy;
    log: Logger;
  },
  signal: AbortSignal,
): Promise<void> {
  const { load, proxy, log } = of;
  const path = of.config.wishes.configPath;
  if (path === undefined) return;
  let running = of.config;
  await watchConfig(
    {
      path,
      current: of.config,
      load,
      onChange: ({ config }) => {
        const plan = planChange(running, config);
        running = plan.config;
        for (const change of plan.live) log.info({ field: change.path }, 'changed, in force now');
        for (const change of plan.restart) {
          log.warn({ field: change.path }, 'changed, in force after a restart');
        }
        proxy.agent.reconfigure(plan.config.settings);
      },
      onProblem: (error) => log.error({ code: error.code }, error.message),
    },
    signal,
  );
}
