import { readFile } from 'node:fs/promises';
import type { ProxyResults, SpecResult } from './result.ts';

/** Results that an earlier run wrote with `--json`. What specs said on the way is not in them. */
export async function readEarlier(files: readonly string[]): Promise<ProxyResults[]> {
  const runs: ProxyResults[] = [];
  for (const file of files) {
    const written = JSON.parse(await readFile(file, 'utf8')) as ProxyResults[];
    runs.push(...written.map((run) => ({ ...run, specs: run.specs.map(withOutput) })));
  }
  return runs;
}

/**
 * One entry for each proxy, in the order they first appear. The last result of a spec counts, but a
 * failure stays: one that passes the second time fails now and then.
 */
export function mergeRuns(runs: readonly ProxyResults[]): ProxyResults[] {
  const merged = new Map<string, ProxyResults>();
  for (const run of runs) {
    const before = merged.get(run.proxy);
    if (before === undefined) {
      merged.set(run.proxy, run);
      continue;
    }
    const specs = new Map(before.specs.map((spec) => [spec.name, spec]));
    for (const spec of run.specs) {
      if (specs.get(spec.name)?.state !== 'failed') specs.set(spec.name, spec);
    }
    const upSeconds = before.upSeconds + run.upSeconds;
    const runSeconds = before.runSeconds + run.runSeconds;
    merged.set(run.proxy, { ...run, specs: [...specs.values()], upSeconds, runSeconds });
  }
  return [...merged.values()];
}

function withOutput(spec: SpecResult): SpecResult {
  return { ...spec, output: '' };
}
