import { writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { Command } from 'commander';
import { type EventPost, Events } from '../agent/kubernetes-events.ts';
import { RestClientMetrics } from '../agent/metrics/rest-client-metrics.ts';
import { ApiSource } from '../cluster/api-source.ts';
import type { Source } from '../cluster/source.ts';
import { formatProblem } from '../config/config-problem.ts';
import { type LoadedConfig, loadConfig } from '../config/load-config.ts';
import { planChange } from '../config/reload-plan.ts';
import { RUN_FOLDER } from '../config/run-folder.ts';
import type { Settings } from '../config/settings.ts';
import { watchConfig } from '../config/watch-config.ts';
import { toConfigurationYaml } from '../config/write.ts';
import type { NeededSysctl } from '../linux/needed-sysctl.ts';
import type { Logger } from '../log/logger.ts';
import type { OpenMode } from '../modes/mode.ts';
import { allParts, modeNamed } from '../modes/mode-registry.ts';
import { openNetfilter } from '../modes/netfilter.ts';
import type { Part } from '../modes/part.ts';
import { type OtherPartsOptions, removeOtherParts } from '../modes/remove-other-parts.ts';
import type { PodNetwork } from '../modes/wing.ts';
import { systemClock } from '../time/clock.ts';
import { podNetworks, WINGS } from '../wings/wing-registry.ts';
import { manifestsOption } from './basis/basis-options.ts';
import { cleanUp } from './cleanup.ts';
import { CommandError, exitCodeOf } from './command-error.ts';
import { TAKE_OVER } from './invocation.ts';
import { addKubeProxyFlags, givenFlags } from './kube-proxy-flags.ts';
import {
  configuredAccess,
  configuredSource,
  openSource,
  type SourceOptions,
} from './open-source.ts';
import { giveBackLargeBlocks, giveBackMemory } from './run/give-back-memory.ts';
import { removeUnwantedRoutes } from './run/keep-service-routes.ts';
import { removeKubeProxyTables } from './run/kube-proxy-tables.ts';
import { keepLastWords, tellFailure } from './run/last-words.ts';
import {
  asksForLocalhost,
  assertNetAdmin,
  localhostServer,
  prepareMachine,
  setNeededSysctl,
} from './run/machine.ts';
import { makeRunFolder } from './run/make-run-folder.ts';
import { openNoDebugger } from './run/no-debugger.ts';
import { becomeOnlyInstance, type OnlyInstance } from './run/one-instance.ts';
import { VERSION } from './run/program-version.ts';
import { type AssembledProxy, assembleProxy } from './run/proxy.ts';
import { sourceLog } from './run/source-log.ts';
import { type Log, openLog } from './run/stream-logger.ts';
import { printPage } from './terminal/print.ts';

interface RunOptions {
  readonly filename?: readonly string[];
  readonly runFolder: string;
  readonly takeOver?: true;
}

/** `fairlead run`: makes Service addresses work on this machine, until SIGTERM or SIGINT. */
export function runCommand(): Command {
  const command = new Command('run')
    .description('serve every Service address on this machine, as kube-proxy does')
    .addOption(
      manifestsOption('read manifests instead of a cluster: a file or folder, watched; repeatable'),
    )
    .option('--run-folder <path>', 'the folder for the status socket', RUN_FOLDER)
    .option(
      TAKE_OVER,
      'after the first sync, delete the nftables tables that kube-proxy left; implied ' +
        'when called as kube-proxy',
    );
  return addKubeProxyFlags(command).action(async (options: RunOptions) => {
    const flags = givenFlags(command);
    const config = await loadConfig(flags);
    const isDone = await carryOut(config, options);
    if (!isDone) await run({ config, load: () => loadConfig(flags), options });
  });
}

/** kube-proxy's flags that do something instead of running; resolves to whether one was given. */
async function carryOut(config: LoadedConfig, { runFolder }: RunOptions): Promise<boolean> {
  const { version, writeConfigToPath, cleanup } = config.wishes;
  if (version) printPage(`fairlead ${VERSION}`);
  else if (writeConfigToPath !== undefined) {
    await writeFile(writeConfigToPath, toConfigurationYaml(config.fields));
  } else if (cleanup) {
    const { pinFolder, cgroupPath } = config.settings.ebpf;
    await cleanUp({ runFolder, pinFolder, ...(cgroupPath ? { cgroup: cgroupPath } : {}) });
  } else return false;
  return true;
}

/** A container ends with its first process, and so do all processes that it has started. */
const FIRST_PROCESS = 1;

interface Start {
  readonly config: LoadedConfig;
  readonly load: () => Promise<LoadedConfig>;
  readonly options: RunOptions;
}

/** From here on nothing blocks on the reader of standard error, not even a fatal error. */
async function run(start: Start): Promise<void> {
  const log = openLog(start.config.settings.log);
  keepLastWords(log.log, log.lines);
  try {
    await runLogging(start, log);
  } catch (error) {
    tellFailure(log.log, error);
    process.exitCode = exitCodeOf(error);
  }
}

async function runLogging({ config, load, options }: Start, { log, lines }: Log): Promise<void> {
  const { settings } = config;
  // Before anything on the machine is changed.
  const mode = await modeNamed(settings.mode);
  openNoDebugger(log);
  giveBackLargeBlocks(log);
  for (const warning of config.warnings) log.warn(formatProblem(warning));
  const nodeName = settings.nodeName ?? hostname().toLowerCase();
  const lifetime = untilSignalled(log);
  const machine = { log, runFolder: options.runFolder };
  let instance: OnlyInstance | undefined;
  if (!config.wishes.initOnly) {
    assertNetAdmin();
    instance = await becomeOnlyInstance(machine, lifetime.signal);
    if (instance === undefined) return;
  }
  await makeRunFolder(options.runFolder);
  const serveLocalhost = localhostServer(machine);
  const setSysctl = (needed: NeededSysctl) => setNeededSysctl(needed, machine);
  await prepareMachine(settings, machine, mode.sysctls);
  if (config.wishes.initOnly) {
    // The proxy does it too, but in an unprivileged container it must find it done.
    if (asksForLocalhost(settings.nodePorts)) await serveLocalhost();
    await mode.prepare?.(settings, { setSysctl });
    return;
  }
  const restClient = new RestClientMetrics();
  const podNetwork = await openPodNetwork(settings, log);
  const objects = await openSource(
    {
      onRequest: (seen) => restClient.onRequest(seen),
      ...sourceOptions(settings, options),
      ...sourceLog(log),
    },
    watchedNode(settings, nodeName),
    ({ code, message, next }) => log.warn({ code }, `${message}; ${next}`),
  );
  const source = podNetwork?.tapped(objects) ?? objects;
  const events = openEvents(nodeName, settings.nodeObject === 'none' ? undefined : objects, log);
  const { runFolder } = options;
  const { ebpf, userspace, ipvs } = settings;
  const around = { ebpf, userspace, ipvs, runFolder, setSysctl };
  const opened = mode.open({
    ...around,
    onWarning: (message) => log.warn(message),
    serveLocalhost,
  });
  let afterwards: Promise<unknown> = Promise.resolve();
  const proxy = assembleProxy({
    onFirstSync: () => {
      const open = (part: Part) => part.open(around);
      const onFailed = () => proxy.metrics.onCleanupFailed();
      const others = { mode, open, onFailed, log, clock: systemClock, random: Math.random };
      afterwards = Promise.all([
        removeLeftovers({ others, opened, settings, options }, lifetime.signal),
        ...(options.takeOver
          ? [removeKubeProxyTables({ openNetlink: () => openNetfilter('requests'), log })]
          : []),
        giveBackMemory(others, lifetime.signal),
        removeUnwantedRoutes(settings, log),
      ]);
    },
    config,
    mode,
    nodeName,
    source,
    ...(options.filename ? { manifests: options.filename } : {}),
    opened,
    events,
    log,
    droppedLogLineCount: () => lines.droppedCount,
    ...(objects instanceof ApiSource ? { restClient } : {}),
    ...(podNetwork ? { podNetwork } : {}),
    runFolder,
  });
  log.info({ node: nodeName, mode: settings.mode, pid: process.pid }, 'starting');
  events.starting('');
  const following = followConfig({ config, load, proxy, log }, lifetime.signal);
  try {
    await proxy.run(lifetime.signal);
  } finally {
    lifetime.abort();
    await following;
    await afterwards;
    if (process.pid === FIRST_PROCESS && opened.drained) {
      // The next one must be let in before: it takes over what is open here.
      instance?.leave();
      await opened.drained();
    }
  }
}

/** Of other modes first: the sets of kube-proxy can only be destroyed when no rule uses them. */
async function removeLeftovers(
  from: {
    readonly others: Omit<OtherPartsOptions, 'parts'>;
    readonly opened: OpenMode;
    readonly settings: Settings;
    readonly options: RunOptions;
  },
  signal: AbortSignal,
): Promise<void> {
  const { others, opened, settings, options } = from;
  await removeOtherParts({ ...others, parts: await allParts() }, signal);
  if (!options.takeOver) return;
  for (const { removeKubeProxyIpvs } of WINGS) {
    const remove = await removeKubeProxyIpvs?.();
    await remove?.({ opened, log: others.log, ipvs: settings.ipvs }, signal);
  }
}

function untilSignalled(log: Log['log']): AbortController {
  const lifetime = new AbortController();
  const stop = (name: NodeJS.Signals) => {
    log.info({ signal: name }, 'stopping; the rules stay in the kernel');
    lifetime.abort();
  };
  process.once('SIGTERM', stop);
  process.once('SIGINT', stop);
  return lifetime;
}

/** Undefined: pods are reached by packets. */
async function openPodNetwork(settings: Settings, log: Logger): Promise<PodNetwork | undefined> {
  if (settings.podNetwork === 'routed') return undefined;
  const networks = await podNetworks();
  if (networks === undefined) {
    throw new CommandError('this build lacks the pod network through the API server', {
      code: 'POD_NETWORK_MISSING',
      next: 'set fairlead.podNetwork to "routed", or use a complete build',
    });
  }
  const { dnsStub, clusterDomain } = settings;
  return networks.open({ access: await configuredAccess(settings), log, dnsStub, clusterDomain });
}

function sourceOptions(settings: Settings, options: RunOptions): SourceOptions {
  const { filename } = options;
  return { ...configuredSource(settings), filename, watch: true, isAgent: true };
}

function watchedNode(settings: Settings, nodeName: string): string | undefined {
  return settings.nodeObject === 'none' ? undefined : nodeName;
}

function openEvents(nodeName: string, source: Source | undefined, log: Logger): Events {
  return new Events({
    about: { nodeName, hostName: hostname() },
    post: postTo(source),
    onProblem: (error) => log.debug(`event: ${String(error)}`),
    clock: systemClock,
  });
}

/** A machine without a Node object posts none: they would be about a Node that does not exist. */
function postTo(source: Source | undefined): EventPost {
  return async (path, body, signal) => {
    if (source instanceof ApiSource) await source.create({ path, object: body }, signal);
  };
}

/** Watches the file: applies what can change while running, and logs what needs a restart. */
async function followConfig(
  program: {
    config: LoadedConfig;
    load: () => Promise<LoadedConfig>;
    proxy: AssembledProxy;
    log: Logger;
  },
  signal: AbortSignal,
): Promise<void> {
  const { load, proxy, log } = program;
  const path = program.config.wishes.configPath;
  if (path === undefined) return;
  let running = program.config;
  await watchConfig(
    {
      path,
      current: program.config,
      load,
      onChange: ({ config }) => {
        const plan = planChange(running, config);
        running = plan.config;
        for (const { path: field, before, after } of plan.live) {
          log.info({ field }, 'configuration field changed, in force now');
          proxy.history.configurationChanged({ field, before, after, inForce: 'now' });
        }
        for (const { path: field, before, after } of plan.restart) {
          log.warn({ field }, 'configuration field changed, in force after a restart');
          const inForce = 'after a restart';
          proxy.history.configurationChanged({ field, before, after, inForce });
        }
        proxy.reconfigure(plan);
      },
      onProblem: (error) => log.error({ code: error.code }, error.message),
    },
    signal,
  );
}
