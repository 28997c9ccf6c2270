import { test } from 'node:test';
import { survives } from '../testing/survives.ts';

/** All faults and full sizes by night: `npm run break -- faults --proxy fairlead-userspace`. */
const SIZES = { streams: 0, replacements: 0, forwarderKills: 2, rollout: 4 };
const WANTED = ['forwarder killed', 'rollout with early deaths'];

test('a node in mode userspace survives the faults of its forwarder', async (t) => {
  const choices = { kills: 1, forwarder: SIZES };
  await survives(t, { proxy: 'fairlead-userspace', choices, wanted: WANTED });
});
