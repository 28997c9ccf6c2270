import { test } from 'node:test';
import { DEAD_ADDRESS } from './chapters/dead-address.ts';
import { playSilently } from './testing/play-silently.ts';

test('the first chapter is played as it is told', { timeout: 120_000 }, async () => {
  await playSilently(DEAD_ADDRESS);
});
