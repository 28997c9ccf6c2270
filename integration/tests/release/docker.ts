import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ipBatch,
  namespaceName,
  pathOfNamespace,
  removeNamespaces,
} from '../../../lab/host/namespaces.ts';
import { type Daemon, startDaemon } from '../../../lab/host/processes.ts';
import { run, tryRun } from '../../../lab/host/run.ts';
import { until } from '../../../lab/host/until.ts';

/** Debian's; another one may be first on the PATH. */
const [DAEMON, CLIENT] = ['/usr/sbin/dockerd', '/usr/bin/docker'];
const START_DEADLINE_MS = 60_000;
const LOAD_DEADLINE_MS = 120_000;

/** A Docker with storage of its own, in a network namespace without any link: it keeps images. */
export interface Docker extends AsyncDisposable {
  run(...args: readonly string[]): Promise<string>;
}

export async function startDocker(of: {
  readonly folder: string;
  readonly signal: AbortSignal;
}): Promise<Docker> {
  await mkdir(of.folder, { recursive: true });
  const namespace = namespaceName({ lab: `d${randomBytes(3).toString('hex')}`, role: 'docker' });
  await ipBatch([`netns add ${namespace}`]);
  const socket = `unix://${join(of.folder, 'socket')}`;
  const daemon = startDaemonIn(of.folder, { namespacePath: pathOfNamespace(namespace), socket });
  await using started = new AsyncDisposableStack();
  started.defer(() => removeNamespaces([namespace]));
  started.defer(() => daemon.stop());
  await until(async () => (await tryRun([CLIENT, '-H', socket, 'version'])).exitCode === 0, {
    what: 'dockerd to answer',
    deadlineMs: START_DEADLINE_MS,
    signal: of.signal,
  });
  const owned = started.move();
  return {
    run: async (...args) =>
      await run([CLIENT, '-H', socket, ...args], { deadlineMs: LOAD_DEADLINE_MS }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function startDaemonIn(
  folder: string,
  of: { readonly namespacePath: string; readonly socket: string },
): Daemon {
  const inFolder = (name: string): string => join(folder, name);
  return startDaemon({
    name: 'dockerd',
    namespacePath: of.namespacePath,
    logFile: inFolder('log'),
    argv: [
      'unshare',
      '--mount',
      DAEMON,
      `--host=${of.socket}`,
      `--data-root=${inFolder('data')}`,
      `--exec-root=${inFolder('run')}`,
      `--pidfile=${inFolder('pid')}`,
      ...['--storage-driver=vfs', '--bridge=none', '--iptables=false', '--ip6tables=false'],
    ],
  });
}
