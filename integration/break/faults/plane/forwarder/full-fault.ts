import { setTimeout as delay } from 'node:timers/promises';
import { must, type PlaneFault, type PlaneOutcome } from '../plane-fault.ts';
import type { PlaneScene } from '../plane-scene.ts';
import { askForwarder, livingForwarder } from './forwarder.ts';

const OPEN_FILES = 4_000;
const HELD = 2_400;
/** The agent learns of a full forwarder within a second, at nine tenths of its room: 200 are left then. */
const AT_ONCE = 50;
const PAUSE_MS = 400;

export const FULL_FAULT: PlaneFault = {
  name: 'forwarder without room',
  done: `at most ${OPEN_FILES} open files, and ${HELD} connections held, ${AT_ONCE} more every ${PAUSE_MS} ms`,
  happen: fillUp,
};

async function fillUp(scene: PlaneScene): Promise<PlaneOutcome> {
  await scene.serving();
  const pid = await livingForwarder(scene);
  // Adopted, it would keep its limits.
  process.kill(pid, 'SIGKILL');
  await scene.becomeUnder(['prlimit', `--nofile=${OPEN_FILES}:${OPEN_FILES}`]);
  await livingForwarder(scene, pid);
  const hammer = await scene.hammer();
  const { mostConnections } = await askForwarder(scene, { do: 'pulse' });
  must(mostConnections <= OPEN_FILES / 2, `it claims room for ${mostConnections} connections`);
  using held = scene.holdAt(hammer.address);
  for (let count = AT_ONCE; count <= HELD; count += AT_ONCE) {
    await held.open(count);
    await delay(PAUSE_MS);
  }
  const { openConnections } = await askForwarder(scene, { do: 'pulse' });
  const lost = await held.lost();
  must(lost.length === 0, `${lost.length} of ${HELD} were lost: ${lost[0]}`);
  must(openConnections > mostConnections / 2, `it took only ${openConnections}`);
  return {
    rightAfter: 'never wrong',
    lost: `nothing: of ${HELD} connections the forwarder held ${openConnections} of at most ${mostConnections}, the kernel translated the others`,
  };
}
