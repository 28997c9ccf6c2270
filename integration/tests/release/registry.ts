import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Daemon, startDaemon } from '../../../lab/host/processes.ts';
import { until } from '../../../lab/host/until.ts';
import { REGISTRY } from '../../../lab/real/plan.ts';
import { httpGet } from '../../../lab/servers/http-get.ts';

const START_DEADLINE_MS = 30_000;

/** Debian's docker-registry, where nodes of the lab look for one. It ends with its namespace. */
export async function startRegistry(of: {
  readonly namespacePath: string;
  readonly folder: string;
  readonly signal: AbortSignal;
}): Promise<Daemon> {
  await mkdir(of.folder, { recursive: true });
  const config = join(of.folder, 'config.json');
  const storage = { filesystem: { rootdirectory: join(of.folder, 'images') } };
  await writeFile(
    config,
    JSON.stringify({ version: '0.1', log: { level: 'warn' }, storage, http: { addr: REGISTRY } }),
  );
  const registry = startDaemon({
    name: 'docker-registry',
    namespacePath: of.namespacePath,
    logFile: join(of.folder, 'log'),
    argv: ['docker-registry', 'serve', config],
  });
  const [address = '', port] = REGISTRY.split(':');
  const to = { address, port: Number(port), path: '/v2/' };
  await until(
    // Nobody listens until it has started.
    async () => {
      const answer = await httpGet({ namespace: of.namespacePath }, to).catch(() => undefined);
      return answer?.status === 200;
    },
    { what: 'the registry to answer', deadlineMs: START_DEADLINE_MS, signal: of.signal },
  );
  return registry;
}
