import { delimiter } from 'node:path';
import type { ClusterAccess } from '../cluster/access.ts';
import { ApiSource } from '../cluster/api-source.ts';
import { inClusterAccess } from '../cluster/kubeconfig/in-cluster.ts';
import { loadKubeconfig } from '../cluster/kubeconfig/load.ts';
import { ManifestsSource } from '../cluster/manifests-source.ts';
import type { ProblemListener, Source } from '../cluster/source.ts';
import { runProgramToEnd } from '../linux/run-program.ts';

/** Where a person wants the objects from. */
export interface SourceOptions {
  /** Manifests instead of a cluster. */
  readonly filename?: readonly string[];
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly watch?: true;
}

/** Manifests if there are any, else the cluster of the kubeconfig, else the one this runs in. */
export async function openSource(options: SourceOptions, nodeName: string): Promise<Source> {
  const onProblem: ProblemListener = (problem) => console.error(`warning: ${problem.message}`);
  if (options.filename) {
    const isWatching = options.watch === true;
    return new ManifestsSource({ paths: options.filename, isWatching, nodeName, onProblem });
  }
  const access = await accessOf(options);
  return new ApiSource({ connection: { access, userAgent: 'fairlead' }, nodeName, onProblem });
}

async function accessOf(options: SourceOptions): Promise<ClusterAccess> {
  const files = options.kubeconfig === undefined ? filesOfEnvironment() : [options.kubeconfig];
  if (files.length === 0) return inClusterAccess({ env: process.env });
  const context = options.context === undefined ? {} : { context: options.context };
  return await loadKubeconfig({ files, ...context, runPlugin: runProgramToEnd });
}

function filesOfEnvironment(): string[] {
  return (process.env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
}
