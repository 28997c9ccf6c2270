import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Command, Option } from 'commander';
import type { ClusterAccess } from '../../../cluster/access.ts';
import { dialDirectly, placeOf } from '../../../cluster/api-socket.ts';
import { dialThrough } from '../../../cluster/tunnel.ts';
import { CommandError } from '../../../commands/command-error.ts';
import { accessOf } from '../../../commands/open-source.ts';
import { printNote, printWarning } from '../../../commands/terminal/print.ts';
import { findOnPath } from '../../../linux/find-on-path.ts';
import { startInherited } from '../../../linux/outside/start-inherited.ts';
import { RunningProgram } from '../../../linux/running-program.ts';
import { sleep } from '../../../time/sleep.ts';
import { textOf } from '../write-files.ts';
import { startRelay } from './api-relay.ts';
import { runInside } from './inside.ts';
import { poll } from './poll-until.ts';
import {
  GATEWAY_DNS,
  GATEWAY_RANGE,
  nsswitchConf,
  resolvConf,
  SHELL_FILES,
  shellConfig,
  shellKubeconfig,
} from './shell-files.ts';
import { makeShellFolder, removeShellFolder } from './shell-folder.ts';

interface ShellOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespaces?: string;
  readonly namespace: string;
  readonly clusterDomain: string;
  readonly inside?: string;
}

const TOKEN_PERIOD_MS = 20_000;
const INSIDE_DEADLINE_MS = 60_000;
const POLL_MS = 20;
/** With processes of its own, which all end with the first one. */
const NAMESPACES = [
  ...['--user', '--map-current-user', '--keep-caps', '--net'],
  ...['--pid', '--fork', '--kill-child=SIGTERM', '--mount-proc'],
];

/** `fairlead shell`: a command that reaches the cluster's Services, without root. */
export function shellCommand(): Command {
  return new Command('shell')
    .description(
      'run a command that reaches Services by address and name; needs no root, and nothing in the cluster',
    )
    .argument('[command...]', 'the command and its arguments, after --; default: your shell')
    .option('--kubeconfig <path>', 'the kubeconfig to use')
    .option('--context <name>', 'the context of the kubeconfig')
    .option('--namespaces <names>', 'only Services of these namespaces, separated by commas')
    .option('-n, --namespace <name>', 'the namespace of short names such as web', 'default')
    .option('--cluster-domain <name>', "the cluster's DNS domain", 'cluster.local')
    .addOption(new Option('--inside <folder>').hideHelp())
    .action(async (command: readonly string[], options: ShellOptions) => {
      process.exitCode = await run(command, options);
    });
}

/** The command that started this process. */
function ownProgram(): readonly string[] {
  return [process.execPath, ...process.argv.slice(1, 2)];
}

async function run(given: readonly string[], options: ShellOptions): Promise<number> {
  const command = given.length > 0 ? given : [process.env['SHELL'] || '/bin/sh'];
  const { inside: folder } = options;
  if (folder !== undefined) return await runInside({ folder, program: ownProgram(), command });
  const isInteractive = given.length === 0;
  const access = await accessOf(options);
  const own = await makeShellFolder(process.env);
  const stop = new AbortController();
  try {
    const program = findNetworkProgram(process.env['PATH']);
    await prepare(own, { access, options, program }, stop.signal);
    tellNetworks(program, { isInteractive, server: access.server });
    return await runShell(own, { command, program });
  } finally {
    stop.abort();
    await removeShellFolder(own);
  }
}

interface Preparation {
  readonly access: ClusterAccess;
  readonly options: ShellOptions;
  readonly program: NetworkProgram | undefined;
}

/** Writes the files of the folder; keeps the token and the relay as long as the shell lives. */
async function prepare(
  folder: string,
  { access, options, program }: Preparation,
  signal: AbortSignal,
): Promise<void> {
  const path = (name: keyof typeof SHELL_FILES): string => join(folder, SHELL_FILES[name]);
  const { namespace, clusterDomain } = options;
  const { host, port } = placeOf(access.server);
  const { proxyUrl } = access;
  const dial = proxyUrl === undefined ? dialDirectly : dialThrough(proxyUrl, dialDirectly);
  const token = await access.token();
  if (token !== undefined) await writeFile(path('token'), token.reveal(), { mode: 0o600 });
  const tokenFile = token === undefined ? undefined : path('token');
  const tls = await access.tls();
  const kubeconfig = shellKubeconfig({
    server: access.server,
    tls,
    tokenFile,
    relay: path('relay'),
  });
  await writeFile(path('kubeconfig'), kubeconfig, { mode: 0o600 });
  const namespaces = (options.namespaces ?? '').split(',').filter((each) => each !== '');
  const oomScoreAdj = Number(await readFile('/proc/self/oom_score_adj', 'utf8'));
  const config = { kubeconfig: path('kubeconfig'), namespaces, clusterDomain, oomScoreAdj };
  await writeFile(path('config'), shellConfig(config));
  const hasOtherNetworks = program !== undefined;
  await writeFile(path('resolv'), resolvConf({ namespace, clusterDomain, hasOtherNetworks }));
  await writeFile(path('nsswitch'), nsswitchConf(await readFile('/etc/nsswitch.conf', 'utf8')));
  await startRelay({ path: path('relay'), host, port, dial }, signal);
  if (tokenFile !== undefined) void renewToken(access, tokenFile, signal);
}

/** Credential plugins need the network of the machine, so tokens are renewed here. */
async function renewToken(access: ClusterAccess, file: string, signal: AbortSignal): Promise<void> {
  for (;;) {
    await sleep(TOKEN_PERIOD_MS, signal);
    if (signal.aborted) return;
    try {
      const token = await access.token();
      if (token !== undefined) await writeFile(file, token.reveal(), { mode: 0o600 });
    } catch (error) {
      // The old one may still be accepted; if not, connections say so.
      printWarning(`cannot renew the token: ${String(error)}`);
    }
  }
}

function tellNetworks(
  program: NetworkProgram | undefined,
  shell: { readonly isInteractive: boolean; readonly server: URL },
): void {
  if (program === undefined) {
    printWarning(
      'only Services are reachable in this shell: install slirp4netns or pasta for other networks',
    );
  }
  if (!shell.isInteractive) return;
  printNote(`Services of ${shell.server.host} by address and name; exit leaves nothing behind`);
}

async function runShell(
  folder: string,
  shell: { readonly command: readonly string[]; readonly program: NetworkProgram | undefined },
): Promise<number> {
  const inside = [...ownProgram(), 'shell', '--inside', folder, '--', ...shell.command];
  // The signal when this process dies survives the change of namespaces: its owner is the same.
  const args = ['--pdeathsig', 'SIGKILL', 'unshare', ...NAMESPACES, '--', ...inside];
  const running = await startInherited({ command: 'setpriv', args });
  // unshare blocks SIGTERM; its child gets one when it dies.
  const forward = (): void => running.kill('SIGKILL');
  // The keyboard's signals reach the command by themselves.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', forward);
  process.on('SIGHUP', forward);
  const isInside = await untilInside(folder, running.ended);
  let network: RunningProgram | undefined;
  let isOver = false;
  if (isInside) {
    network = shell.program && startNetwork(shell.program, running.pid);
    const file = join(folder, SHELL_FILES.network);
    await writeFile(file, shell.program ?? 'none');
    void network?.ended.then(async ({ stderr }) => {
      if (isOver) return;
      printWarning(
        `only Services are reachable in this shell: ${shell.program} ended: ${stderr.trim()}`,
      );
      await writeFile(file, 'none');
    });
  }
  try {
    if (!isInside) {
      running.kill('SIGKILL');
      throw noNamespaces();
    }
    return await running.ended;
  } finally {
    isOver = true;
    await network?.stop();
  }
}

/** False: it ended before its namespaces were there. */
async function untilInside(folder: string, ended: Promise<number>): Promise<boolean> {
  const stop = new AbortController();
  const over = ended.then(() => false);
  const file = join(folder, SHELL_FILES.inside);
  const polling = { everyMs: POLL_MS, deadlineMs: INSIDE_DEADLINE_MS, signal: stop.signal };
  const there = poll(() => textOf(file), polling).then((text) => text !== undefined);
  return await Promise.race([there, over]).finally(() => stop.abort());
}

function noNamespaces(): CommandError {
  return new CommandError('this machine gives users no namespaces of their own', {
    code: 'SHELL_NO_NAMESPACES',
    next: 'the line above says why; see user.max_user_namespaces, kernel.unprivileged_userns_clone and kernel.apparmor_restrict_unprivileged_userns (sysctl)',
  });
}

/** Programs that give a network namespace of a user the networks of the machine, best first. */
const NETWORK_PROGRAMS = ['slirp4netns', 'pasta'] as const;
type NetworkProgram = (typeof NETWORK_PROGRAMS)[number];

/** Undefined: none is installed. */
function findNetworkProgram(path: string | undefined): NetworkProgram | undefined {
  return NETWORK_PROGRAMS.find((program) => findOnPath(program, path) !== undefined);
}

/**
 * Starts it for the namespaces of a process. It ends with its standard input, and so with us,
 * however we end.
 */
function startNetwork(program: NetworkProgram, pid: number): RunningProgram {
  const [command, ...args] = ARGUMENTS[program](String(pid));
  return RunningProgram.start(command, args);
}

const ARGUMENTS: Readonly<Record<NetworkProgram, (pid: string) => [string, ...string[]]>> = {
  slirp4netns: (pid) => [
    'slirp4netns',
    '--configure',
    '--mtu=65520',
    '--disable-host-loopback',
    `--cidr=${GATEWAY_RANGE}`,
    '--exit-fd=0',
    pid,
    'tap0',
  ],
  // It has no such option: a shell ends it when the input ends. By default it would forward ports.
  pasta: (pid) => [
    'sh',
    '-c',
    'pasta -f -q --config-net -t none -u none -T none -U none --dns-forward "$1" "$2" & cat; kill $!',
    'sh',
    GATEWAY_DNS,
    pid,
  ],
};
