import type { SourceClassName } from './common.ts';

export interface NodeAbout {
  readonly node: string;
  /** Absent: the node has no zone. */
  readonly zone?: string;
  readonly mode: string;
  readonly version: string;
  readonly pid: number;
  readonly startedAtMs: number;
  /** The agent's clock when it answered. */
  readonly atMs: number;
  /** Whether `/data/path` may send packets: `--allow-probes` was given. */
  readonly mayProbe: boolean;
  readonly isReady: boolean;
  /** Everything that `fairlead status` complains of. */
  readonly troubles: readonly Trouble[];
  /** Source classes whose connections conntrack does not see in this mode. */
  readonly unseenSources: readonly SourceClassName[];
}

export interface Trouble {
  readonly what: string;
  readonly next: string;
}
