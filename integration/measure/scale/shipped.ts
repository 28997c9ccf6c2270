import { join } from 'node:path';
import { SHIPPED_AS, SHIPPED_FLAGS } from '../../../bench/bundle.ts';
import type { Progress } from '../../../lab/host/progress.ts';
import { run } from '../../../lab/host/run.ts';
import type { ProxyVariant } from '../../../lab/proxies/contract.ts';
import { fairlead } from '../../../lab/proxies/fairlead.ts';

const ROOT = join(import.meta.dirname, '../../..');
/** Inside the project, where the one package that is not in the bundle is found. */
const FOLDER = join(ROOT, 'dist/scale');
const WORKER_DEADLINE_MS = 300_000;

export type Worker = 'cold-node' | 'cold-bare' | 'stages-node';
const WORKERS: readonly Worker[] = ['cold-node', 'cold-bare', 'stages-node'];

/** Everything is measured in the form in which a node would run it: bundled. */
export async function bundleAll(progress: Progress): Promise<void> {
  const bundles: [string, string][] = [
    ['src/main.ts', join(FOLDER, 'fairlead.mjs')],
    ...WORKERS.map((name): [string, string] => [
      join('integration/measure/scale', `${name}.ts`),
      join(FOLDER, `${name}.mjs`),
    ]),
  ];
  await progress.step('bundle', async () => {
    const tool = join(ROOT, 'tools/bundle.ts');
    for (const [entry, outfile] of bundles) await run([process.execPath, tool, entry, outfile]);
  });
}

/** The program as it is shipped, for the lab to run. */
export function shippedFairlead(): ProxyVariant {
  return fairlead({
    name: 'fairlead-nftables',
    description: `Fairlead, nftables mode: ${SHIPPED_AS}`,
    mode: 'nftables',
    program: [...SHIPPED_FLAGS, join(FOLDER, 'fairlead.mjs')],
  });
}

/** Runs a part in a process of its own, with the flags of the whole, and gives what it prints. */
export async function runWorker<T>(
  worker: Worker,
  args: readonly (string | number)[],
  signal: AbortSignal,
): Promise<T> {
  const output = await run(
    [process.execPath, ...SHIPPED_FLAGS, join(FOLDER, `${worker}.mjs`), ...args.map(String)],
    { deadlineMs: WORKER_DEADLINE_MS, signal },
  );
  return JSON.parse(output) as T;
}
