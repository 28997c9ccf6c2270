import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { assertKernelHas } from '../host/kernel-parts.ts';
import { namespacePath } from '../host/namespaces.ts';
import { assertRunning, type Daemon, startDaemon } from '../host/processes.ts';
import { until } from '../host/until.ts';
import { httpGet } from '../servers/http-get.ts';
import type { ProxyPlace, ProxyVariant } from './contract.ts';

const SYNC_DEADLINE_MS = 180_000;

export interface ProxyStart extends Omit<ProxyPlace, 'folder'> {
  readonly lab: string;
  readonly variant: ProxyVariant;
  readonly labFolder: string;
  readonly logFolder: string;
}

/** Starts a proxy on one node; resolves when it has written every family to the kernel. */
export async function startProxy(start: ProxyStart): Promise<Daemon> {
  assertKernelHas(start.variant.kernelParts ?? [], start.variant.name);
  const folder = join(start.labFolder, 'proxies', start.nodeName);
  await mkdir(folder, { recursive: true });
  const command = await start.variant.prepare({ ...start, folder });
  const path = namespacePath({ lab: start.lab, role: start.nodeName });
  const daemon = startDaemon({
    name: `${start.variant.name} on ${start.nodeName}`,
    namespacePath: path,
    argv: command.argv,
    env: command.env,
    logFile: join(start.logFolder, `${start.nodeName}-${start.variant.name}.log`),
  });
  await until(
    async () => {
      await assertRunning(daemon);
      return await start.variant.synced((port, urlPath) =>
        httpGet({ namespace: path }, { address: '127.0.0.1', port, path: urlPath })
          .then((answer) => answer.body)
          .catch(() => undefined),
      );
    },
    { what: `${daemon.name} to sync`, deadlineMs: SYNC_DEADLINE_MS },
  );
  return daemon;
}
