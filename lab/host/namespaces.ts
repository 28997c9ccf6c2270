import { readdir } from 'node:fs/promises';
import { processesByNamespace } from './namespace-processes.ts';
import { run, tryRun } from './run.ts';

const NAMESPACE_FOLDER = '/run/netns';
/** Every namespace the lab makes starts with this, so that leftovers are known without a record. */
const OWNED_PREFIX = 'fl-';

export interface NamespaceName {
  readonly lab: string;
  readonly role: string;
}

export function namespaceName(name: NamespaceName): string {
  return `${OWNED_PREFIX}${name.lab}-${name.role}`;
}

export function namespacePath(name: NamespaceName): string {
  return pathOfNamespace(namespaceName(name));
}

export function pathOfNamespace(fullName: string): string {
  return `${NAMESPACE_FOLDER}/${fullName}`;
}

/**
 * Runs lines of `ip -batch`, in the host's namespace or in one of the lab's: one process for all.
 * The version matters to rules only; the family of addresses and routes follows from their form.
 */
export async function ipBatch(
  lines: readonly string[],
  namespace?: string,
  version: 4 | 6 = 4,
): Promise<void> {
  if (lines.length === 0) return;
  const where = namespace === undefined ? [] : ['-n', namespace];
  const family = version === 6 ? ['-6'] : [];
  await run(['ip', ...family, ...where, '-batch', '-'], { input: `${lines.join('\n')}\n` });
}

/** The argv that runs a command inside a namespace; nothing but the network changes for it. */
export function enterNamespace(
  path: string,
  argv: readonly [string, ...string[]],
): [string, ...string[]] {
  return ['nsenter', `--net=${path}`, '--', ...argv];
}

/** Sets sysctls of a namespace; each line of `settings` is `key=value`. */
export async function setSysctls(path: string, settings: readonly string[]): Promise<void> {
  await run(enterNamespace(path, ['sysctl', '-q', '-w', ...settings]));
}

/** Full names of the namespaces of one lab, or of every lab on this machine. */
export async function listNamespaces(lab?: string): Promise<string[]> {
  const prefix = lab === undefined ? OWNED_PREFIX : namespaceName({ lab, role: '' });
  const names = await readdir(NAMESPACE_FOLDER).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names.filter((name) => name.startsWith(prefix)).sort();
}

/** The lab that a namespace belongs to; lab names hold no dash. */
export function labOfNamespace(fullName: string): string {
  return fullName.slice(OWNED_PREFIX.length).split('-')[0] ?? '';
}

/**
 * Ends every process inside the namespaces, then removes them with all their links. A lab namespace
 * holds only what the lab started there, so its processes are ours to end.
 */
export async function removeNamespaces(fullNames: readonly string[]): Promise<void> {
  await killProcessesOf(...fullNames);
  await ipBatch(fullNames.map((name) => `netns delete ${name}`));
}

export async function killProcessesOf(...fullNames: readonly string[]): Promise<void> {
  const found = await processesByNamespace(fullNames.map(pathOfNamespace));
  for (const pid of [...found.values()].flat()) killIfAlive(pid);
}

/**
 * `ip netns add` makes the folder of namespaces a mount of its own the first time. When
 * no namespace is left in it, it is unmounted too; the next `ip netns add` mounts it again.
 */
export async function releaseNamespaceFolder(): Promise<void> {
  const left = await readdir(NAMESPACE_FOLDER).catch(() => ['absent']);
  if (left.length > 0) return;
  const mounted = await tryRun(['mountpoint', '-q', NAMESPACE_FOLDER]);
  if (mounted.exitCode === 0) await run(['umount', NAMESPACE_FOLDER]);
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
