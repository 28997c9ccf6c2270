import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { LabError } from '../../../lab/host/errors.ts';
import { type Daemon, startDaemon } from '../../../lab/host/processes.ts';
import { tryRun } from '../../../lab/host/run.ts';
import { until } from '../../../lab/host/until.ts';
import { METRICS_PORT } from '../../../lab/proxies/kube-proxy-configuration.ts';
import { PANELS, type Panel, type PanelAnswer, panelAnswer } from './dashboard.ts';
import { NODE, type Scene } from './scene.ts';

const PORT = 9090;
const PROGRAM = 'prometheus';
const DEADLINE_MS = 60_000;
const EVERY_MS = 500;

const CONFIGURATION = `
global: { scrape_interval: 1s }
scrape_configs:
  - job_name: kube-proxy
    static_configs: [{ targets: ['127.0.0.1:${METRICS_PORT}'] }]
`;

export async function assertPrometheus(): Promise<void> {
  const { exitCode } = await tryRun(['sh', '-c', `command -v ${PROGRAM}`]);
  if (exitCode === 0) return;
  throw new LabError('LAB_TOOL_MISSING', `${PROGRAM} is not installed`, {
    next: `apt-get install --no-install-recommends ${PROGRAM}`,
  });
}

/** A Prometheus beside the proxy, in the network namespace of the node; ends with `daemon`. */
export async function startPrometheus(scene: Scene, name: string): Promise<Daemon> {
  const folder = join(scene.lab.folder, 'prometheus', name);
  await mkdir(folder, { recursive: true });
  const configuration = join(folder, 'prometheus.yml');
  await writeFile(configuration, CONFIGURATION);
  const daemon = startDaemon({
    name: PROGRAM,
    namespacePath: scene.lab.namespacePath(NODE),
    argv: [
      PROGRAM,
      `--config.file=${configuration}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${PORT}`,
    ],
    logFile: join(scene.lab.folder, 'logs', `prometheus-${name}.log`),
  });
  const isScraping = async (): Promise<boolean> => {
    return (await ask(scene, 'max(count_over_time(up[1m]))').catch(() => 'empty')) !== 'empty';
  };
  await until(isScraping, { what: 'Prometheus to scrape', deadlineMs: DEADLINE_MS });
  return daemon;
}

/** What every panel shows once those of `awaited` show a number; also if they never do. */
export async function readPanels(
  scene: Scene,
  awaited: (panel: Panel) => boolean,
): Promise<ReadonlyMap<Panel, PanelAnswer>> {
  const endAtMs = performance.now() + DEADLINE_MS;
  for (;;) {
    const answers = new Map<Panel, PanelAnswer>();
    for (const panel of PANELS) answers.set(panel, await ask(scene, panel.query));
    const isDone = PANELS.every((panel) => {
      return !awaited(panel) || typeof answers.get(panel) === 'number';
    });
    if (isDone || performance.now() > endAtMs) return answers;
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}

async function ask(scene: Scene, query: string): Promise<PanelAnswer> {
  return panelAnswer(await scene.get(PORT, `/api/v1/query?query=${encodeURIComponent(query)}`));
}
