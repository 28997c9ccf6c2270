import { enterNamespace } from '../../lab/host/namespaces.ts';
import type { Daemon } from '../../lab/host/processes.ts';
import { run } from '../../lab/host/run.ts';
import type { OutsideStart } from '../../lab/outside/start.ts';
import type { World } from '../world.ts';

interface AnySabotage {
  readonly name: string;
  /** What is done, in a sentence for the table. */
  readonly title: string;
  /** The proxies whose rules or program it knows; undefined: it works on any. */
  readonly proxies?: readonly string[];
}

/** A fault planted behind a proxy's back, and the scenario that must notice it. */
export interface ActedSabotage extends AnySabotage {
  readonly scenario: string;
  readonly act: (scene: Scene) => Promise<void>;
}

/** A proxy that learns of Services too late, from when the scenario has been built. */
export interface LateSabotage extends AnySabotage {
  /** A scenario, the rounds of the barrier by the clock, or each scenario that changes something. */
  readonly noticedBy: { readonly scenario: string } | 'promptness' | 'every change';
  readonly delayMs: number;
  /** As in `LateRule`; `NAMESPACE` stands for that of the scenario. */
  readonly service: string;
}

/** A configuration or a state of Fairlead outside the cluster that no such machine may have. */
export interface OutsideSabotage extends AnySabotage {
  /** The scenario of `outside/` that must notice it. */
  readonly outside: string;
  /** More of its configuration. */
  readonly configured?: Pick<OutsideStart, 'settings' | 'fairlead' | 'configuration'>;
  /** Whether it is stopped (SIGSTOP) when the scenario has been built. */
  readonly isFrozen?: true;
}

export type Sabotage = ActedSabotage | LateSabotage | OutsideSabotage;

/** What a sabotage may modify. */
export interface Scene {
  readonly world: World;
  readonly proxies: ReadonlyMap<string, Daemon>;
}

/** Runs a script of nft commands on a node. */
export async function nft(scene: Scene, node: string, script: string): Promise<string> {
  const path = scene.world.lab.namespacePath(node);
  return await run(enterNamespace(path, ['nft', '-f', '-']), { input: script });
}

export async function onEveryNode(
  scene: Scene,
  act: (node: string) => Promise<unknown>,
): Promise<void> {
  for (const node of scene.proxies.keys()) await act(node);
}

/** The sabotage's own table; removed when the sabotage is over. */
export const FOREIGN_TABLE = 'inet saboteur';
