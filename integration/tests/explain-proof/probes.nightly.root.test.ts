import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Dialogue, startDialogue } from '../../../lab/host/dialogue.ts';
import { until } from '../../../lab/host/until.ts';
import type { Explanation } from '../../../src/explain/explanation.ts';
import { listIds, openProgramById } from '../../../src/linux/ebpf/enumerate.ts';
import { run } from '../../../src/linux/netlink/testing/own-namespace.ts';
import type { PlacedHost } from '../../../src/linux/testing/hosts/placed-host.ts';
import { type Scene, startScene } from './scene.ts';
import { clusterIp } from './shop.ts';

const PROGRAM = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const DROP_PROGRAM = 'fairlead_drops';
const PROBES = 1000;
const KILLS = 50;
/** Longer than one probe takes, so that each moment of it is met. */
const LONGEST_LIFE_MS = 250;
const CONNECTIONS_AT_ONCE = 20;
const GONE_DEADLINE_MS = 10_000;

describe('explain sends probes under load', () => {
  let scene: Scene;
  before(async () => {
    scene = await startScene('nftables');
  });
  after(() => scene.stop());

  const explainer = (): Dialogue =>
    startDialogue([process.execPath, PROGRAM, 'explain', '-', '--run-folder', scene.runFolder]);
  const line = (from: PlacedHost): string => `${clusterIp('web', 'ipv4')}:80 pid:${from.pid} usual`;

  it(`${PROBES} of them, and no connection of others is lost`, async () => {
    using dialogue = explainer();
    const load = startLoad([scene.client, scene.outside]);
    for (let count = 0; count < PROBES; count++) {
      const told = JSON.parse(await dialogue.ask(line(scene.client))) as Explanation;
      assert.equal(told.code, 'REACHES', JSON.stringify(told));
      assert.equal(told.proof?.agrees, true, told.notProven);
    }
    const { connections, lost } = await load.stop();
    assert.deepEqual(lost, []);
    assert.ok(connections > PROBES, `${connections} connections`);
  });

  it(`leaves nothing if it is killed at one of ${KILLS} moments`, async () => {
    const load = startLoad([scene.outside]);
    for (let count = 0; count < KILLS; count++) {
      const dialogue = explainer();
      await dialogue.ask(line(scene.client));
      const unanswered = dialogue.ask(line(scene.client));
      // It is killed before it answers, or just after.
      void unanswered.catch(() => undefined);
      await sleep((LONGEST_LIFE_MS * count) / KILLS);
      await dialogue.kill();
      assert.ok(!run(['nft', 'list', 'tables']).includes('probe'));
      await until(() => dropPrograms() === 0, {
        what: 'the kernel to free the drop program',
        deadlineMs: GONE_DEADLINE_MS,
      });
    }
    assert.deepEqual((await load.stop()).lost, []);
  });
});

interface Load {
  /** How many connections there were, and what those that failed saw. */
  stop(): Promise<{ readonly connections: number; readonly lost: readonly string[] }>;
}

/** Clients that connect to the same Service again and again, as the probes do. */
function startLoad(clients: readonly PlacedHost[]): Load {
  const ended = new AbortController();
  const lost: string[] = [];
  let connections = 0;
  const working = clients.map(async (client) => {
    while (!ended.signal.aborted) {
      const answers = await client.ask({
        transport: 'TCP',
        address: clusterIp('web', 'ipv4'),
        port: 80,
        count: CONNECTIONS_AT_ONCE,
      });
      connections += answers.length;
      lost.push(...answers.flatMap(({ by }) => (by === 'near' || by === 'far' ? [] : [by])));
    }
  });
  return {
    stop: async () => {
      ended.abort();
      await Promise.all(working);
      return { connections, lost };
    },
  };
}

/** Programs that report dropped packets, of any process of this machine. */
function dropPrograms(): number {
  let count = 0;
  for (const id of listIds('program')) {
    const program = openProgramById(id);
    if (program?.name === DROP_PROGRAM) count += 1;
    program?.close();
  }
  return count;
}
