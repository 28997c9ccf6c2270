import { enterNamespace } from '../../lab/host/namespaces.ts';
import type { Daemon } from '../../lab/host/processes.ts';
import { run } from '../../lab/host/run.ts';
import type { World } from '../world.ts';

/** A fault planted behind a proxy's back, and the scenario that must notice it. */
export interface Sabotage {
  readonly name: string;
  /** What is done, as one would tell it. */
  readonly title: string;
  /** The proxies whose rules it knows; undefined: it works on any. */
  readonly proxies?: readonly string[];
  readonly scenario: string;
  readonly act: (scene: Scene) => Promise<void>;
}

/** What a sabotage may touch. */
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

/** A table that is nobody's but the saboteur's; removed when the sabotage is over. */
export const FOREIGN_TABLE = 'inet saboteur';
