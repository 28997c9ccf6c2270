import type { AttackReport } from './hostile/process.ts';
import type { MemorySample, Probe } from './probes.ts';
import type { VictimChange } from './victim/changes.ts';
import type { StickyClient } from './victim/sticky-clients.ts';

/** All measurements, before the verdicts. */
export interface NeighbourResult {
  readonly proxy: string;
  readonly seed: number;
  readonly seconds: number;
  readonly isGentle: boolean;
  /** Changes of the victim before the hostile user began. */
  readonly calm: readonly VictimChange[];
  readonly changes: readonly VictimChange[];
  readonly attacks: readonly AttackReport[];
  readonly probes: readonly Probe[];
  readonly memory: readonly MemorySample[];
  readonly slabPeakBytes: number;
  readonly connections: {
    readonly made: number;
    readonly failed: number;
    readonly example: string;
  };
  readonly clients: readonly StickyClient[];
  readonly aftermath: Aftermath;
  /** Why it was ended early. */
  readonly ended?: string;
}

/** What was found when it was over. Undefined: not found out. */
export interface Aftermath {
  /** Seconds until the kernel had what the API server has. Infinity: never. */
  readonly convergedSeconds?: number | undefined;
  readonly difference?: string | undefined;
  /** The same once the namespace was deleted. */
  readonly emptiedSeconds?: number | undefined;
  readonly residentBytes?: number | undefined;
  readonly slabBytes?: number | undefined;
  /** Caches of the kernel that have grown since the start. */
  readonly grown?: string | undefined;
}
