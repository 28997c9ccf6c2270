import type { ProxyResults } from './result.ts';

/** A failure that is the proxy's own: the spec can be passed on this cluster. */
export interface OwnFailure {
  readonly proxy: string;
  readonly spec: string;
}

/**
 * What fails although upstream's kube-proxy passes it. Where upstream was not asked in the same run
 * every failure counts, and so does every failure of upstream itself when nobody else was asked.
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
