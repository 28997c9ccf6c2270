import type { Settings } from '../../../config/settings.ts';
import type { BasicFinding } from '../../../doctor/basic-finding.ts';
import type { Check } from '../../../doctor/run-checks.ts';
import type { ClusterView } from './cluster-view.ts';
import type { MachineView } from './machine-view.ts';

export interface CheckContext {
  readonly settings: Settings;
  readonly machine: MachineView;
  /** Read once. Throws ClusterError. */
  cluster(): Promise<ClusterView>;
  /** Folder of the status socket. */
  readonly runFolder: string;
  readonly signal: AbortSignal;
}

export type OutsideCheck = Check<CheckContext>;

/** A check with one finding. */
export function check(
  name: string,
  find: (context: CheckContext) => Promise<BasicFinding>,
): OutsideCheck {
  return { name, run: async (context) => [await find(context)] };
}

export const warning = (what: string, next: string): BasicFinding => ({
  level: 'note',
  what,
  next,
});

export const skipped = (what: string, next?: string): BasicFinding => ({
  level: 'unasked',
  what,
  ...(next === undefined ? {} : { next }),
});
