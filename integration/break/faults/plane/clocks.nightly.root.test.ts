import { test } from 'node:test';
import { survives } from './testing/survives.ts';

const STOPPED_SECONDS = 5;

/** The other clock faults take minutes. */
const WANTED = ['clock set back by an hour', 'clock set forward by a day', 'process stopped'];

test('a node serves on when its wall clock is set, and when its process was stopped', async (t) => {
  const choices = { kills: 1, stoppedSeconds: STOPPED_SECONDS };
  await survives(t, { proxy: 'fairlead-nftables', choices, wanted: WANTED });
});
