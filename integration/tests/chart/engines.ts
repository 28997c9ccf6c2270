import { join } from 'node:path';
import { silentProgress } from '../../../lab/host/progress.ts';
import { type RunResult, run, tryRun } from '../../../lab/host/run.ts';
import { provideTool } from '../../../lab/parts/build.ts';
import { type HelmMajor, provideHelm } from '../../../lab/parts/helm.ts';

export const ROOT = join(import.meta.dirname, '../../..');
const CHART = join(ROOT, 'deploy/chart/fairlead');
const DEADLINE_MS = 60_000;

/** The two programs with which people render manifests. */
export interface Engines {
  /** Fails if helm does. */
  template(args: readonly string[]): Promise<string>;
  tryHelm(args: readonly string[]): Promise<RunResult>;
  kustomize(folder: string): Promise<string>;
}

export async function provideEngines(major?: HelmMajor): Promise<Engines> {
  const context = { progress: silentProgress };
  const helm = await provideHelm(context, major);
  const kubectl = await provideTool('kubectl', context);
  const options = { deadlineMs: DEADLINE_MS };
  return {
    template: (args) => run([helm, ...templateCommand(args)], options),
    tryHelm: (args) => tryRun([helm, ...args], options),
    kustomize: (folder) => run([kubectl, 'kustomize', folder], options),
  };
}

export function templateCommand(args: readonly string[]): readonly string[] {
  return ['template', 'fairlead', CHART, '--namespace', 'kube-system', ...args];
}
