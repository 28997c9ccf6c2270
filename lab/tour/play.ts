import { release } from 'node:os';
import { abortable } from '../host/interruption.ts';
import { assertKernelHas } from '../host/kernel-parts.ts';
import type { Progress } from '../host/progress.ts';
import { startLab } from '../lab.ts';
import { startRealCluster } from '../real/cluster.ts';
import { findRealProxy } from '../real/proxies/registry.ts';
import type { AnyChapter, Chapter, RealChapter } from './chapter.ts';
import type { PlayedChapter } from './markdown.ts';
import { assertPrograms } from './programs.ts';
import { makeActs, makeStage } from './stage.ts';
import type { Entry } from './story.ts';

export interface PlayOptions {
  /** Name of the lab; a random one when not given. */
  readonly lab?: string | undefined;
  /** Leaves the lab up, at the end and after a failure. */
  readonly keep?: boolean;
  readonly progress: Progress;
  readonly signal?: AbortSignal | undefined;
  tell(entry: Entry): void;
}

/** Plays a chapter in a lab of its own, which is removed after it. */
export async function playChapter(
  chapter: AnyChapter,
  options: PlayOptions,
): Promise<PlayedChapter> {
  assertKernelHas(chapter.kernelParts ?? [], `chapter '${chapter.name}'`);
  assertPrograms(chapter.programs ?? []);
  const entries: Entry[] = [];
  const tell = (entry: Entry): void => {
    entries.push(entry);
    options.tell(entry);
  };
  if ('realProxy' in chapter) await playOnRealNodes(chapter, { ...options, tell });
  else await playInLab(chapter, { ...options, tell });
  return { chapter, entries, kernel: `Linux ${release().split('.', 2).join('.')}` };
}

async function playInLab(chapter: Chapter, options: PlayOptions): Promise<void> {
  const { progress, signal, tell } = options;
  const lab = await startLab({ name: options.lab, network: chapter.network, progress, signal });
  try {
    await abortable(chapter.play(makeStage({ lab, progress, signal, tell })), signal);
  } finally {
    if (options.keep) await lab.detach();
    else await lab[Symbol.asyncDispose]();
  }
}

async function playOnRealNodes(chapter: RealChapter, options: PlayOptions): Promise<void> {
  const { lab: name, progress, signal, tell } = options;
  const proxy = findRealProxy(chapter.realProxy);
  const cluster = await startRealCluster({ name, nodeCount: 2, proxy, progress, signal });
  const { adminKubeconfig } = cluster.credentials;
  const place = { name: cluster.name, adminKubeconfig };
  try {
    await abortable(chapter.play(makeActs({ ...place, progress, signal, tell })), signal);
  } finally {
    if (options.keep) cluster.detach();
    else await cluster[Symbol.asyncDispose]();
  }
}
