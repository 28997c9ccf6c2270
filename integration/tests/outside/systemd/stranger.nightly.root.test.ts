import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DNS_DOMAIN } from '../../../../lab/real/plan.ts';
import {
  changesBetween,
  type MachineState,
  readMachine,
} from '../../../../lab/systemd/machine-state.ts';
import {
  LAN_ANSWER,
  OTHER_NAME,
  type Outsider,
  startOutsider,
  WEB_NAME,
  WEB_POD,
} from '../../../../lab/systemd/outsider.ts';
import { LAST_OUTPUT, walk } from '../../../../lab/systemd/stranger.ts';
import { Asker, isBelow } from './asker.ts';

const LONG_MS = 15 * 60_000;
const A_MINUTE_MS = 60_000;
const TERMINAL_COLUMNS = 80;

describe('a new machine with systemd beside a cluster', { timeout: LONG_MS }, () => {
  let outsider: Outsider;
  let asker: Asker;
  let atFirst: MachineState;
  const changes = async () => changesBetween(atFirst, await readMachine(outsider.machine));

  before(async () => {
    outsider = await startOutsider();
    asker = new Asker(outsider);
    atFirst = await readMachine(outsider.machine);
  });

  after(async () => {
    await outsider?.[Symbol.asyncDispose]();
  });

  it('shows what it would do for names, and changes nothing', async () => {
    const output = await asker.shell('fairlead outside dns print --server 10.96.0.10');
    assert.match(output, /^not set up: `fairlead outside dns apply` makes names/);
    assert.match(output, /^ {2}resolvectl domain fairlead0 ~cluster\.local$/m);
    for (const line of output.split('\n')) assert.ok(line.length <= TERMINAL_COLUMNS, line);
    assert.deepEqual(await changes(), []);
  });

  it('reaches a Service by its name after three commands, within a minute', async () => {
    const steps = await walk(outsider);
    assert.equal(steps.length, 3);
    assert.equal(steps.at(-1)?.output, LAST_OUTPUT);
    const total = steps.reduce((sum, { durationMs }) => sum + durationMs, 0);
    assert.ok(total < A_MINUTE_MS, `${total} ms`);
  });

  it('reaches it in both families', async () => {
    assert.equal(await asker.web('-4'), WEB_POD);
    assert.equal(await asker.web('-6'), WEB_POD);
    const addresses = await asker.query(WEB_NAME);
    assert.deepEqual(
      addresses.map((address) => address.includes(':')),
      [false, true],
    );
  });

  it('asks the cluster for names of its domain, and for no other', async () => {
    const { lan, cluster } = await asker.during(async () => {
      assert.deepEqual(await asker.query(OTHER_NAME), [LAN_ANSWER]);
      for (const name of ['local.example.org', 'cluster.local.example.org', 'notcluster.local']) {
        await asker.query(name);
      }
      assert.deepEqual(await asker.query('absent.default.svc.cluster.local'), []);
      await asker.query(WEB_NAME);
      await asker.shell(`getent ahosts ${OTHER_NAME}; getent ahosts ${WEB_NAME}`);
    });
    assert.ok(cluster.includes(WEB_NAME));
    assert.deepEqual(
      cluster.filter((name) => !isBelow(DNS_DOMAIN)(name)),
      [],
    );
    assert.deepEqual(lan.filter(isBelow(DNS_DOMAIN)), []);
    assert.ok(lan.includes('cluster.local.example.org'));
  });

  it('has no problem by its own check', async () => {
    assert.doesNotMatch(await asker.shell('fairlead outside check 2>&1 || true'), /\bproblems?\b/);
  });

  it('works again after a reboot', async () => {
    await outsider.machine.reboot();
    await asker.untilWebAnswers();
    assert.deepEqual(await asker.query(OTHER_NAME), [LAN_ANSWER]);
    assert.match(await asker.shell('fairlead outside dns'), /^set up: /);
  });

  it('is as it was before after one command', async () => {
    await asker.shell('fairlead outside off --cluster 2>&1');
    assert.deepEqual(await changes(), []);
    assert.equal(await asker.web(), '');
  });
});
