import { METRICS_PORT } from '../../../lab/proxies/kube-proxy-configuration.ts';
import type { Prometheus } from '../../prometheus.ts';
import { PANELS, type Panel, type PanelAnswer, panelAnswer } from './dashboard.ts';

const DEADLINE_MS = 60_000;
const EVERY_MS = 500;

export const CONFIGURATION = `
global: { scrape_interval: 1s }
scrape_configs:
  - job_name: kube-proxy
    static_configs: [{ targets: ['127.0.0.1:${METRICS_PORT}'] }]
`;

/** What every panel shows once those of `awaited` show a number; also if they never do. */
export async function readPanels(
  prometheus: Prometheus,
  awaited: (panel: Panel) => boolean,
): Promise<ReadonlyMap<Panel, PanelAnswer>> {
  const endAtMs = performance.now() + DEADLINE_MS;
  for (;;) {
    const answers = new Map<Panel, PanelAnswer>();
    for (const panel of PANELS) answers.set(panel, panelAnswer(await prometheus.ask(panel.query)));
    const isDone = PANELS.every((panel) => {
      return !awaited(panel) || typeof answers.get(panel) === 'number';
    });
    if (isDone || performance.now() > endAtMs) return answers;
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
  }
}
