import { silentProgress } from '../../host/progress.ts';
import type { AnyChapter } from '../chapter.ts';
import type { PlayedChapter } from '../markdown.ts';
import { playChapter } from '../play.ts';

/** A chapter is a test of what it claims: a claim that does not hold fails it. */
export async function playSilently(chapter: AnyChapter): Promise<PlayedChapter> {
  return await playChapter(chapter, { progress: silentProgress, tell: () => undefined });
}
