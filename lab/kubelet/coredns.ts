import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { assertRunning, type Daemon, startDaemon } from '../host/processes.ts';
import { until } from '../host/until.ts';
import { httpGet } from '../servers/http-get.ts';

const READY_PORT = 8181;
const READY_DEADLINE_MS = 30_000;

export interface CorednsOptions {
  readonly program: string;
  /** Of the host that it runs on: it has to reach the API server. */
  readonly namespacePath: string;
  readonly kubeconfig: string;
  readonly name: string;
  readonly logFolder: string;
}

/** The DNS server of a cluster, on port 53; resolves when it knows the Services. */
export async function startCoredns(options: CorednsOptions): Promise<Daemon> {
  const { name, namespacePath, logFolder } = options;
  const corefile = join(logFolder, `${name}.Corefile`);
  await writeFile(corefile, corefileText(options.kubeconfig));
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
    { what: `${name} to know the Services`, deadlineMs: READY_DEADLINE_MS },
  );
  return daemon;
}

/** Without a cache: what it says follows the API at once. */
function corefileText(kubeconfig: string): string {
  return `.:53 {
    errors
    ready :${READY_PORT}
    kubernetes cluster.local {
        kubeconfig ${kubeconfig}
    }
}
`;
}
