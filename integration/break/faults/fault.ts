import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../../../lab/host/until.ts';
import type { Middleman } from './middleman.ts';
import type { Scene } from './scene.ts';
import type { Watcher } from './watcher.ts';

/** A fault between the source and the API server or behind it. */
interface FaultBase {
  readonly name: string;
  /** What was done, for the reader of the table. */
  readonly done: string;
  /** What the source must detect: a fault without effect proves nothing. */
  readonly feltAs?: string;
}

/** Resolves when the fault is over and all changes are made. */
export type Fault =
  | (FaultBase & {
      readonly way: 'straight';
      readonly happen: (scene: Scene, watcher: Watcher) => Promise<void>;
    })
  | (FaultBase & {
      readonly way: 'middleman';
      readonly happen: (scene: Scene, watcher: Watcher, middleman: Middleman) => Promise<void>;
    });

/** How many Services are created, deleted and changed, each, while a fault lasts. */
export const CHANGES = 5;

const FELT_DEADLINE_MS = 60_000;

/** A fault that lasts; not a wait for something to happen. */
export async function lasting(seconds: number): Promise<void> {
  await delay(seconds * 1_000);
}

export async function felt(watcher: Watcher, problem: string): Promise<void> {
  const isFelt = (): boolean => watcher.problems().includes(problem);
  await until(isFelt, { what: `the source to notice ${problem}`, deadlineMs: FELT_DEADLINE_MS });
}
