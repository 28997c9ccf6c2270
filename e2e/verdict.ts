import type { ProxyResults } from './result.ts';

/** A failure that is the proxy's own: the spec can be passed on this cluster. */
export interface OwnFailure {
  readonly proxy: string;
  readonly spec: string;
}

/**
 * What fails although upstream's kube-proxy passes it. If upstream is not in the same run, every
 * failure counts; if only upstream is, every failure of upstream counts.
 */
export function ownFailures(runs: readonly ProxyResults[]): OwnFailure[] {
  const upstream = runs.filter((run) => run.isUpstream);
  const judged = runs.some((run) => !run.isUpstream) ? runs.filter((run) => !run.isUpstream) : runs;
  const excused = judged === runs ? [] : upstream;
  return judged.flatMap((run) =>
    run.specs
      .filter((spec) => spec.state === 'failed')
      .filter((spec) => excused.length === 0 || !excused.every((other) => fails(other, spec.name)))
      .map((spec) => ({ proxy: run.proxy, spec: spec.name })),
  );
}

function fails(run: ProxyResults, name: string): boolean {
  return run.specs.find((spec) => spec.name === name)?.state === 'failed';
}
