import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LabError } from '../lab/host/errors.ts';
import { startDaemon } from '../lab/host/processes.ts';
import { tryRun } from '../lab/host/run.ts';
import { until } from '../lab/host/until.ts';
import { httpGet } from '../lab/servers/http-get.ts';

const PORT = 9090;
const PROGRAM = 'prometheus';
const DEADLINE_MS = 60_000;

/** One line of an answer of /api/v1/query, at the moment of the question. */
export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

export interface Prometheus extends AsyncDisposable {
  ask(query: string): Promise<readonly Sample[]>;
}

export async function assertPrometheus(): Promise<void> {
  const { exitCode } = await tryRun(['sh', '-c', `command -v ${PROGRAM}`]);
  if (exitCode === 0) return;
  throw new LabError('LAB_TOOL_MISSING', `${PROGRAM} is not installed`, {
    next: `apt-get install --no-install-recommends ${PROGRAM}`,
  });
}

/** A Prometheus beside the proxy, in the network namespace of a node; has scraped when it resolves. */
export async function startPrometheus(of: {
  readonly namespacePath: string;
  readonly folder: string;
  readonly configuration: string;
}): Promise<Prometheus> {
  const { namespacePath, folder } = of;
  await mkdir(folder, { recursive: true });
  const configuration = join(folder, 'prometheus.yml');
  await writeFile(configuration, of.configuration);
  const daemon = startDaemon({
    name: PROGRAM,
    namespacePath,
    argv: [
      PROGRAM,
      `--config.file=${configuration}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${PORT}`,
    ],
    logFile: join(folder, 'prometheus.log'),
  });
  const prometheus: Prometheus = {
    ask: async (query) => {
      const path = `/api/v1/query?query=${encodeURIComponent(query)}`;
      const to = { address: '127.0.0.1', port: PORT, path };
      const { body } = await httpGet({ namespace: namespacePath }, to);
      const { data, error } = JSON.parse(body) as {
        data?: { result: readonly Sample[] };
        error?: string;
      };
      if (data === undefined) throw new TypeError(`Prometheus: ${error}: ${query}`);
      return data.result;
    },
    [Symbol.asyncDispose]: () => daemon.stop(),
  };
  const isScraping = async (): Promise<boolean> => {
    const seen = await prometheus.ask('max(count_over_time(up[1m]))').catch(() => []);
    return seen.length > 0;
  };
  await until(isScraping, { what: 'Prometheus to scrape', deadlineMs: DEADLINE_MS });
  return prometheus;
}
