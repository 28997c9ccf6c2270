import { Resolver } from 'node:dns/promises';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseIp } from '../../../addresses/ip.ts';
import { ServerError } from '../../../agent/servers/server-error.ts';
import { readStatus } from '../../../agent/servers/status-client.ts';
import type { AgentSnapshot } from '../../../agent/snapshot.ts';
import { systemCode } from '../../../cluster/cluster-error.ts';
import { CommandError } from '../../../commands/command-error.ts';
import { STATUS_SOCKET } from '../../../config/run-folder.ts';
import { startInherited } from '../../../linux/outside/start-inherited.ts';
import { setLinkUp } from '../../../linux/route/change-links.ts';
import { lookUpRoute } from '../../../linux/route/machine-routes.ts';
import { runProgramToEnd } from '../../../linux/run-program.ts';
import { type DetachedProcess, startDetached } from '../../../linux/start-detached.ts';
import { sleep } from '../../../time/sleep.ts';
import { textOf } from '../write-files.ts';
import { poll } from './poll-until.ts';
import { SHELL_FILES } from './shell-files.ts';
import { removeShellFolder } from './shell-folder.ts';

const READY_DEADLINE_MS = 60_000;
const NETWORK_DEADLINE_MS = 10_000;
const POLL_MS = 50;
const MOUNT_DEADLINE_MS = 10_000;
const RESOLVER_FILES = [
  { name: SHELL_FILES.resolv, at: '/etc/resolv.conf' },
  { name: SHELL_FILES.nsswitch, at: '/etc/nsswitch.conf' },
];

export interface Inside {
  readonly folder: string;
  /** The command that starts Fairlead. */
  readonly program: readonly string[];
  readonly command: readonly string[];
}

/** The half of a shell in its own namespaces: the agent, and the command. Resolves to its exit code. */
export async function runInside({ folder, program, command }: Inside): Promise<number> {
  const stop = new AbortController();
  // Ctrl-C is for the command. SIGTERM is also sent when the half outside has died.
  process.on('SIGINT', () => undefined);
  process.on('SIGTERM', () => stop.abort());
  process.on('SIGHUP', () => stop.abort());
  let agent: DetachedProcess | undefined;
  try {
    await setLinkUp('lo');
    await writeFile(join(folder, SHELL_FILES.inside), '');
    agent = await startAgent(folder, program);
    await untilNetwork(folder, stop.signal);
    await useResolver(folder);
    await untilReady(folder, agent, stop.signal);
    return await runCommand(command, stop.signal);
  } finally {
    if (agent) await endAgent(agent);
    // The half outside removes it otherwise.
    if (stop.signal.aborted) await removeShellFolder(folder);
  }
}

/** A process of its own session, which Ctrl-C does not reach; it ends with this one. */
async function startAgent(folder: string, program: readonly string[]): Promise<DetachedProcess> {
  const run = ['run', '--config', join(folder, SHELL_FILES.config)];
  const runFolder = ['--run-folder', join(folder, SHELL_FILES.run)];
  const script = 'log=$1; shift; exec "$@" > "$log" 2>&1';
  const log = join(folder, SHELL_FILES.log);
  const inShell = ['sh', '-c', script, 'sh', log, ...program, ...run, ...runFolder];
  const args = ['--pdeathsig', 'SIGTERM', ...inShell];
  return await startDetached({ command: 'setpriv', args, descriptors: [] });
}

/** Waits for the decision outside, and for a route if there is to be one. */
async function untilNetwork(folder: string, signal: AbortSignal): Promise<void> {
  const file = join(folder, SHELL_FILES.network);
  const until = { everyMs: POLL_MS, deadlineMs: NETWORK_DEADLINE_MS, signal };
  if ((await poll(() => textOf(file), until)) === undefined) return;
  // Of documentation, and so of nobody: only a default route leads there.
  const anywhere = parseIp('192.0.2.1');
  if (anywhere === undefined) return;
  const isSettled = async (): Promise<true | undefined> => {
    // Also written when the program that makes the route has failed.
    if ((await textOf(file)) === 'none') return true;
    return (await lookUpRoute(anywhere)).found ? true : undefined;
  };
  await poll(isSettled, until);
}

async function useResolver(folder: string): Promise<void> {
  for (const { name, at } of RESOLVER_FILES) {
    const args = ['--bind', join(folder, name), at];
    const call = { command: 'mount', args, env: {}, timeoutMs: MOUNT_DEADLINE_MS };
    const { exitCode } = await runProgramToEnd(call);
    if (exitCode === 0) continue;
    throw new CommandError(`cannot put a file of this shell at ${at}`, {
      code: 'SHELL_MOUNT',
      next: 'the lines above say why; the machine must allow mounts in user namespaces',
    });
  }
}

/** Until every Service is in the kernel and the stub answers, which has all routes behind it. */
async function untilReady(
  folder: string,
  agent: DetachedProcess,
  signal: AbortSignal,
): Promise<void> {
  const socketPath = join(folder, SHELL_FILES.run, STATUS_SOCKET);
  const ended = agent.ended.then((how) => `ended with ${how}`);
  const isReady = async (): Promise<true | undefined> =>
    (await isSynced(socketPath)) && (await isAnswering()) ? true : undefined;
  const ready = poll(isReady, {
    everyMs: POLL_MS,
    deadlineMs: READY_DEADLINE_MS,
    signal,
  });
  const result = await Promise.race([ready, ended]);
  if (result === true || signal.aborted) return;
  const why = result ?? `was not ready within ${READY_DEADLINE_MS / 1000} s`;
  const log = (await textOf(join(folder, SHELL_FILES.log))) ?? '';
  const lines = log.trimEnd().split('\n').slice(-5).join('\n');
  throw new CommandError(`the agent of this shell ${why}`, {
    code: 'SHELL_NOT_READY',
    next: `its last words:\n${lines}`,
  });
}

async function isSynced(socketPath: string): Promise<boolean> {
  try {
    const { conditions } = (await readStatus({ socketPath })) as AgentSnapshot;
    return conditions.firstSync.isTrue;
  } catch (error) {
    if (error instanceof ServerError) return false;
    throw error;
  }
}

async function isAnswering(): Promise<boolean> {
  const resolver = new Resolver({ timeout: 1000, tries: 1 });
  resolver.setServers(['127.0.0.1']);
  try {
    await resolver.resolve4('svc');
    return true;
  } catch (error) {
    return systemCode(error) === 'ENOTFOUND';
  }
}

/** Without the rights that preparing took; it ends with this process. */
async function runCommand(command: readonly string[], signal: AbortSignal): Promise<number> {
  if (signal.aborted) return 143;
  const plain = ['--inh-caps=-all', '--ambient-caps=-all', '--pdeathsig', 'SIGKILL', '--'];
  const running = await startInherited({ command: 'setpriv', args: [...plain, ...command] });
  signal.addEventListener('abort', () => running.kill('SIGTERM'), { once: true });
  return await running.ended;
}

const END_MS = 5_000;

/** SIGTERM, and SIGKILL if it takes too long. Leaves no timer that would keep this process. */
export async function endAgent(agent: DetachedProcess, patienceMs = END_MS): Promise<void> {
  kill(agent.pid, 'SIGTERM');
  const over = new AbortController();
  const isEnded = await Promise.race([
    agent.ended.then(() => true),
    sleep(patienceMs, over.signal),
  ]);
  over.abort();
  if (isEnded !== true) kill(agent.pid, 'SIGKILL');
}

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (systemCode(error) !== 'ESRCH') throw error;
  }
}
