import type { Settings } from '../../../config/settings.ts';
import type { ClusterView } from './cluster-view.ts';
import type { MachineView } from './machine-view.ts';

export type Result = 'good' | 'warning' | 'problem' | 'skipped';

/** What one check found. */
export interface Finding {
  readonly result: Result;
  readonly what: string;
  /** What to do about it. */
  readonly next?: string;
}

export interface CheckContext {
  readonly settings: Settings;
  readonly machine: MachineView;
  /** Read once. Throws ClusterError. */
  cluster(): Promise<ClusterView>;
  /** Folder of the status socket. */
  readonly runFolder: string;
  readonly signal: AbortSignal;
}

export interface Check {
  readonly name: string;
  run(context: CheckContext): Promise<Finding>;
}

export const good = (what: string): Finding => ({ result: 'good', what });
export const skipped = (what: string, next?: string): Finding => ({
  result: 'skipped',
  what,
  ...(next === undefined ? {} : { next }),
});
export const warning = (what: string, next: string): Finding => ({ result: 'warning', what, next });
export const problem = (what: string, next: string): Finding => ({ result: 'problem', what, next });
