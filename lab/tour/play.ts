import { release } from 'node:os';
import { abortable } from '../host/interruption.ts';
import { assertKernelHas } from '../host/kernel-parts.ts';
import type { Progress } from '../host/progress.ts';
import { startLab } from '../lab.ts';
import type { Chapter } from './chapter.ts';
import type { PlayedChapter } from './markdown.ts';
import { assertPrograms } from './programs.ts';
import { makeStage } from './stage.ts';
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
export async function playChapter(chapter: Chapter, options: PlayOptions): Promise<PlayedChapter> {
  assertKernelHas(chapter.kernelParts ?? [], `chapter '${chapter.name}'`);
  assertPrograms(chapter.programs ?? []);
  const { progress, signal } = options;
  const lab = await startLab({ name: options.lab, network: chapter.network, progress, signal });
  const entries: Entry[] = [];
  const tell = (entry: Entry): void => {
    entries.push(entry);
    options.tell(entry);
  };
  try {
    await abortable(chapter.play(makeStage({ lab, progress, signal, tell })), signal);
    return { chapter, entries, kernel: `Linux ${release().split('.', 2).join('.')}` };
  } finally {
    if (options.keep) await lab.detach();
    else await lab[Symbol.asyncDispose]();
  }
}
