import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingOfKernel } from '../host/kernel-parts.ts';
import type { Chapter } from './chapter.ts';
import { CHAPTERS } from './registry.ts';
import { playSilently } from './testing/play-silently.ts';

const TIMEOUT_MS = 300_000;

for (const chapter of CHAPTERS) {
  const skip = missingOfKernel(chapter.kernelParts ?? []) ?? false;
  test(`chapter ${chapter.name} is played as it is told`, {
    skip,
    timeout: TIMEOUT_MS,
  }, async () => {
    await playSilently(chapter);
  });
}

test('a chapter that claims what does not happen fails', { timeout: TIMEOUT_MS }, async () => {
  const wrong: Chapter = {
    name: 'wrong',
    title: 'Wrong',
    learn: 'Nothing.',
    repeats: [],
    play: async (stage) => {
      const answer = await stage.on('machine', 'echo no');
      stage.check('it says yes', answer === 'yes');
    },
  };
  await assert.rejects(playSilently(wrong), { code: 'LAB_TOUR' });
});
