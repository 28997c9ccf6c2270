import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { assertRunning, type Daemon, startDaemon } from '../host/processes.ts';
import { until } from '../host/until.ts';
import { httpGet } from '../servers/http-get.ts';

const READY_PORT = 8181;
const READY_DEADLINE_MS = 60_000;

export interface CorednsOptions {
  readonly program: string;
  /** Of the host that it runs on: it has to reach the API server. */
  readonly namespacePath: string;
  /** With the plugin `ready`. */
  readonly corefile: string;
  readonly name: string;
  readonly logFolder: string;
  readonly signal?: AbortSignal | undefined;
}

/** The DNS server of a cluster, on port 53; resolves when it knows the Services. */
export async function startCoredns(options: CorednsOptions): Promise<Daemon> {
  const { name, namespacePath, logFolder } = options;
  const corefile = join(logFolder, `${name}.Corefile`);
  await writeFile(corefile, options.corefile);
  const daemon = startDaemon({
    name,
    namespacePath,
    argv: [options.program, '-conf', corefile],
    logFile: join(logFolder, `${name}.log`),
  });
  const ready = { address: '127.0.0.1', port: READY_PORT, path: '/ready' };
  await until(
    async () => {
      await assertRunning(daemon);
      const answer = await httpGet({ namespace: namespacePath }, ready).catch(() => undefined);
      return answer?.status === 200;
    },
    {
      what: `${name} to know the Services`,
      deadlineMs: READY_DEADLINE_MS,
      signal: options.signal,
    },
  );
  return daemon;
}

/** Without a cache: what it says follows the API at once. */
export function plainCorefile(kubeconfig: string): string {
  return `.:53 {
    errors
    ready
    kubernetes cluster.local {
        kubeconfig ${kubeconfig}
    }
}
`;
}
