import { test } from 'node:test';
import { survives } from './testing/survives.ts';

const KILLS = 3;

/** The rest takes minutes, or measures times that a machine full of tests cannot keep. */
const WANTED = [`${KILLS} x kill -9`, 'programs replaced under connections', 'writes to maps fail'];

test('a node in mode socket-ebpf survives some of its faults', async (t) => {
  await survives(t, { proxy: 'fairlead-socket-ebpf', choices: { kills: KILLS }, wanted: WANTED });
});
