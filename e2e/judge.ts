import { join } from 'node:path';
import { styleText } from 'node:util';
import type { Progress } from '../lab/host/progress.ts';
import type { TestParts } from '../lab/parts/real.ts';
import { startRealCluster } from '../lab/real/cluster.ts';
import type { RealProxy } from '../lab/real/proxies/contract.ts';
import type { EndedSpec } from './ginkgo-output.ts';
import { keepFailures, keepLogs } from './keep.ts';
import { type ProxyResults, shortName } from './result.ts';
import { runSpecs } from './run-specs.ts';

export interface Judgement {
  readonly proxy: RealProxy;
  readonly tests: TestParts;
  readonly focus: string;
  readonly procs: number;
  readonly nodes: number;
  /** For Ginkgo's output, and for what is kept of failures. */
  readonly folder: string;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

/** A cluster of its own for the proxy, and upstream's specs against it. */
export async function judgeProxy(of: Judgement): Promise<ProxyResults> {
  const { proxy, progress, signal } = of;
  process.stderr.write(`\n${proxy.name}: ${proxy.description}\n`);
  const startedAt = performance.now();
  const failures = join(of.folder, 'failures');
  await using cluster = await startRealCluster({
    nodeCount: of.nodes,
    proxy,
    progress,
    signal,
    onFailure: (clusterFolder) => keepLogs(clusterFolder, failures),
  });
  const readyAt = performance.now();
  const specs = await runSpecs({
    cluster,
    tests: of.tests,
    focus: of.focus,
    processes: of.procs,
    folder: of.folder,
    onEnd: announcer(),
    signal,
  });
  const endedAt = performance.now();
  await keepFailures({ clusterFolder: cluster.folder, specs, into: failures });
  return {
    proxy: proxy.name,
    isUpstream: proxy.isUpstream,
    specs,
    upSeconds: (readyAt - startedAt) / 1000,
    runSeconds: (endedAt - readyAt) / 1000,
  };
}

/** A line for each spec as it ends: a run takes minutes, and a failure should not be a surprise. */
function announcer(): (spec: EndedSpec) => void {
  const stream = process.stderr;
  const marks = {
    passed: styleText('green', '✓', { stream }),
    failed: styleText('red', '✗', { stream }),
    skipped: '–',
  };
  return (spec) => {
    const count = `${spec.number} of ${spec.of}`;
    const line = `${marks[spec.state]} ${shortName(spec.name)}  ${spec.seconds.toFixed(1)} s`;
    stream.write(`  ${count.padStart(10)}  ${line}\n`);
  };
}
