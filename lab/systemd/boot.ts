import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cgroupName, limitMemory, makeCgroup, removeCgroup } from '../host/cgroups.ts';
import { LabError } from '../host/errors.ts';
import { labFolder } from '../host/folders.ts';
import { namespacePath } from '../host/namespaces.ts';
import { assertRunning, type Daemon, startDaemon } from '../host/processes.ts';
import { type Progress, silentProgress } from '../host/progress.ts';
import { type RunOptions, type RunResult, run, tryRun } from '../host/run.ts';
import { until } from '../host/until.ts';
import { readNetwork, resetNetwork } from './network-state.ts';
import { provideRoot } from './root.ts';
import { bootScript } from './script.ts';
import { installFairlead, NODE_PROGRAM } from './software.ts';

export interface BootOptions {
  readonly lab: string;
  /** The host of the lab whose network it gets. */
  readonly role: string;
  readonly progress?: Progress;
  readonly signal?: AbortSignal | undefined;
}

type Argv = readonly [string, ...string[]];

/** A host of a lab with systemd as its first process, in a root of its own. */
export interface SystemdMachine extends AsyncDisposable {
  readonly namespacePath: string;
  /** A file of the machine, by its path from here; valid until it is booted again. */
  path(file: string): string;
  /** Fails if the exit code is not 0. */
  run(argv: Argv, options?: RunOptions): Promise<string>;
  tryRun(argv: Argv, options?: RunOptions): Promise<RunResult>;
  /** Ends everything in order, forgets what the kernel held of its network, and boots again. */
  reboot(): Promise<void>;
}

const MEMORY_LIMIT_BYTES = 1024 ** 3;
const BOOT_DEADLINE_MS = 60_000;
const STOP_DEADLINE_MS = 60_000;

/** Resolves when systemd has started everything. */
export async function bootSystemd(options: BootOptions): Promise<SystemdMachine> {
  const { lab, role, signal } = options;
  const progress = options.progress ?? silentProgress;
  const lower = await provideRoot({ progress, signal });
  const folder = join(labFolder(lab), 'systemd', role);
  for (const name of ['upper', 'work', 'root'])
    await mkdir(join(folder, name), { recursive: true });
  const group = cgroupName({ lab, role });
  await makeCgroup(group);
  await limitMemory(group, MEMORY_LIMIT_BYTES);
  const remove = async (): Promise<void> => {
    await removeCgroup(group);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await progress.step('Fairlead as its package installs it', () =>
      installFairlead(join(folder, 'upper'), signal),
    );
    await writeNames(join(folder, 'upper'), role);
    const script = join(folder, 'boot.sh');
    const programs = [[NODE_PROGRAM, process.execPath]] as const;
    await writeFile(script, bootScript({ lower, folder, programs }));
    return await progress.step('boot', () => boot({ ...options, script, group, remove }));
  } catch (error) {
    await remove();
    throw error;
  }
}

/** The root has those of the machine that it was made on. */
async function writeNames(root: string, hostname: string): Promise<void> {
  await mkdir(join(root, 'etc'), { recursive: true });
  await writeFile(join(root, 'etc/hostname'), `${hostname}\n`);
  await writeFile(join(root, 'etc/hosts'), `127.0.0.1 localhost\n127.0.1.1 ${hostname}\n`);
}

interface Booting extends BootOptions {
  readonly script: string;
  readonly group: string;
  remove(): Promise<void>;
}

async function boot(of: Booting): Promise<SystemdMachine> {
  const { lab, role } = of;
  const network = namespacePath({ lab, role });
  const networkBefore = await readNetwork(network);
  const daemon = startDaemon({
    name: `systemd on ${role}`,
    namespacePath: network,
    logFile: join(labFolder(lab), 'logs', `${role}-systemd.log`),
    argv: ['sh', '-c', `${await joinGroups(of.group)} exec ${UNSHARE} sh ${of.script}`],
  });
  try {
    let init = await untilBooted(daemon, of.signal);
    const enter = (argv: Argv): Argv => [...enterMachine(init), ...argv];
    const machine: SystemdMachine = {
      namespacePath: network,
      path: (file) => join(`/proc/${init}/root`, file),
      run: (argv, options) => run(enter(argv), options),
      tryRun: (argv, options) => tryRun(enter(argv), options),
      reboot: async () => {
        await run(enter(['systemctl', '--no-block', 'reboot']));
        await until(() => daemon.ended() !== undefined, {
          what: `${role} to shut down`,
          deadlineMs: STOP_DEADLINE_MS,
          signal: of.signal,
        });
        await resetNetwork(network, networkBefore);
        daemon.startAgain();
        init = await untilBooted(daemon, of.signal);
      },
      async [Symbol.asyncDispose]() {
        await daemon.kill();
        await of.remove();
      },
    };
    return machine;
  } catch (error) {
    await daemon.kill();
    throw error;
  }
}

/** The kernel kills every process of the machine with its first, and that with this program. */
const UNSHARE = 'unshare --mount --uts --ipc --pid --cgroup --fork --kill-child';

/** Before the cgroup namespace exists: its root is the cgroup of who makes it. */
async function joinGroups(group: string): Promise<string> {
  const lines = (await readFile('/proc/self/cgroup', 'utf8')).trim().split('\n');
  const folders = lines.map((line) => {
    const controllers = line.split(':')[1] ?? '';
    const hierarchy = controllers.replace(/^name=/, '').split(',')[0] ?? '';
    const names = hierarchy === '' ? ['unified', ''] : [hierarchy];
    return names.map((name) => join('/sys/fs/cgroup', name, group)).find(existsSync);
  });
  return folders
    .filter((folder) => folder !== undefined)
    .map((folder) => `echo $$ >${folder}/cgroup.procs;`)
    .join(' ');
}

/** systemd's process ID; resolves when it has started everything that it starts at boot. */
async function untilBooted(daemon: Daemon, signal: AbortSignal | undefined): Promise<number> {
  const deadline = { deadlineMs: BOOT_DEADLINE_MS, signal };
  const init = await until(
    async () => {
      await assertRunning(daemon);
      return await childOf(daemon.pid);
    },
    { what: 'systemd to be started', ...deadline },
  );
  let state = '';
  await until(
    async () => {
      await assertRunning(daemon);
      // systemctl fails until systemd listens.
      const asked = await tryRun([...enterMachine(init), 'systemctl', 'is-system-running']);
      state = asked.stdout.trim();
      return state === 'running' || state === 'degraded';
    },
    { what: 'systemd to boot', ...deadline },
  );
  if (state === 'running') return init;
  const failed = await tryRun([...enterMachine(init), 'systemctl', '--failed', '--no-legend']);
  throw new LabError('LAB_PROCESS_ENDED', `units failed at boot:\n${failed.stdout}`, {
    next: 'read the journal of the machine: journalctl -b',
  });
}

async function childOf(pid: number): Promise<number | undefined> {
  const path = `/proc/${pid}/task/${pid}/children`;
  const text = existsSync(path) ? await readFile(path, 'utf8') : '';
  return text.trim() === '' ? undefined : Number(text.trim().split(' ')[0]);
}

function enterMachine(init: number): Argv {
  const environment = [
    'env',
    '-i',
    'PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    'HOME=/root',
  ];
  return ['nsenter', `--target=${init}`, '--all', '--root', '--wd', '--', ...environment];
}
