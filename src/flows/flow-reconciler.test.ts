import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Deleted, FlowRun } from './flow-observer.ts';
import { type FlowOptions, FlowReconciler } from './flow-reconciler.ts';
import { FakeConntrack, flow } from './testing/fake-conntrack.ts';
import { change, row } from './testing/flow-rows.ts';

const FRONTEND = ['10.96.0.10', 53] as const;
const frontends = ['10.96.0.10 53'];
const OLD = row({ service: 'dns', frontends, endpoints: ['10.1.0.1 53'] });
const NEW = row({ service: 'dns', frontends, endpoints: ['10.1.0.2 53'] });
const BOTH = row({ service: 'dns', frontends, endpoints: ['10.1.0.1 53', '10.1.0.2 53'] });

function flowTo(address: string, clientPort = 4000) {
  const client = ['10.9.9.9', clientPort] as const;
  return flow({ protocol: 17, client, destination: FRONTEND, answeredBy: [address, 53] });
}

async function until(isSo: () => boolean): Promise<void> {
  const endAtMs = performance.now() + 5000;
  while (!isSo()) {
    assert.ok(performance.now() < endAtMs, `not within 5 s: ${isSo}`);
    await delay(1);
  }
}

interface StageOptions {
  readonly clientAddresses?: readonly string[];
  readonly drainRecheckMs?: number;
}

class Stage {
  readonly conntrack = new FakeConntrack();
  readonly deleted: Deleted[] = [];
  readonly runs: FlowRun[] = [];
  readonly reconciler: FlowReconciler;
  readonly #aborter = new AbortController();
  #ended: Promise<void> | undefined;

  constructor(options: FlowOptions = {}, more: StageOptions = {}) {
    const { clientAddresses, drainRecheckMs = 20 } = more;
    this.reconciler = new FlowReconciler({
      clientAddresses: () => clientAddresses,
      conntrack: this.conntrack,
      nodePortAddresses: () => ['192.168.0.1'],
      observer: {
        onDeleted: (deleted) => this.deleted.push(deleted),
        onRun: (run) => this.runs.push(run),
      },
      options,
      drainRecheckMs,
      synSentSeconds: () => 120,
    });
  }

  start(): void {
    this.#ended = this.reconciler.run(this.#aborter.signal);
  }

  async stop(): Promise<void> {
    this.#aborter.abort();
    await this.#ended;
  }

  untilRuns(count: number): Promise<void> {
    return until(() => this.runs.length >= count);
  }
}

describe('the reconciler', () => {
  let stage: Stage;

  beforeEach(() => {
    stage = new Stage();
  });

  afterEach(() => stage.stop());

  it('scans all flows once at the start and deletes only stale ones', async () => {
    stage.conntrack.table = [flowTo('10.1.0.1', 1), flowTo('10.1.0.2', 2)];
    const [valid] = stage.conntrack.table;
    stage.reconciler.adopt([OLD]);
    stage.start();
    await stage.untilRuns(1);
    assert.deepEqual(stage.conntrack.table, [valid]);
    const { service, ...rest } = stage.deleted[0] as Deleted;
    assert.equal(service.service, 'dns');
    assert.deepEqual(rest, { reason: 'endpoint-gone', endpoint: '10.1.0.2:53', count: 1 });
  });

  it('starts sooner after an acknowledgement than a timer of 20 ms', async () => {
    stage.start();
    stage.reconciler.adopt([OLD]);
    await stage.untilRuns(1);
    const first: ('question' | 'timer')[] = [];
    for (let round = 0; round < 9; round++) {
      const asked = Promise.withResolvers<'question'>();
      stage.conntrack.onQuestion = () => asked.resolve('question');
      stage.reconciler.acknowledged([round % 2 === 0 ? change(OLD, NEW) : change(NEW, OLD)]);
      // Timers fire in the order of their times, no matter how late on a busy machine.
      first.push(await Promise.race([asked.promise, delay(20, 'timer' as const)]));
      await stage.untilRuns(2 + round);
    }
    // After a long scan it pauses for as long.
    const inTime = first.filter((what) => what === 'question').length;
    assert.ok(inTime > first.length / 2, first.join(', '));
  });

  it('does not query conntrack for a change that makes no flow stale', async () => {
    stage.start();
    stage.reconciler.adopt([OLD]);
    await stage.untilRuns(1);
    const questions = stage.conntrack.questions.length;
    stage.reconciler.acknowledged([change(OLD, BOTH)]);
    stage.reconciler.acknowledged([change(BOTH, NEW)]);
    await stage.untilRuns(2);
    assert.equal(stage.conntrack.questions.length, questions + 1);
  });

  it('merges all changes during a run into one next run', async () => {
    const gate = Promise.withResolvers<void>();
    stage.conntrack.onQuestion = () => gate.promise;
    stage.start();
    stage.reconciler.adopt([OLD]);
    await until(() => stage.conntrack.questions.length > 0);
    for (let turn = 0; turn < 10; turn++) {
      stage.reconciler.acknowledged([change(OLD, NEW)]);
      stage.reconciler.acknowledged([change(NEW, OLD)]);
    }
    assert.equal(stage.conntrack.questions.length, 1);
    gate.resolve();
    await stage.untilRuns(2);
    await delay(30);
    assert.equal(stage.runs.length, 2);
  });

  it('retries after a failure, and keeps the endpoints that a removed frontend had', async () => {
    stage.conntrack.table = [flowTo('10.1.0.1')];
    stage.start();
    stage.reconciler.adopt([OLD]);
    await stage.untilRuns(1);
    let failures = 2;
    stage.conntrack.onQuestion = () => {
      if (failures-- > 0) throw new Error('no kernel today');
    };
    const empty = row({ service: 'dns', frontends, endpoints: [] });
    stage.reconciler.acknowledged([change(OLD, empty)]);
    await stage.untilRuns(2);
    stage.reconciler.acknowledged([change(empty, undefined)]);
    await stage.untilRuns(4);
    const failed = stage.runs.map(({ error }) => error !== undefined);
    assert.deepEqual(failed, [false, true, true, false]);
    assert.deepEqual(stage.conntrack.table, []);
    assert.equal(stage.deleted[0]?.reason, 'frontend-gone');
  });

  it('keeps a flow to an endpoint that is acknowledged while the flow is being evaluated', async () => {
    stage.conntrack.table = [flowTo('10.1.0.2')];
    stage.start();
    stage.conntrack.onQuestion = () => {
      setImmediate(() => stage.reconciler.acknowledged([change(OLD, NEW)]));
    };
    stage.reconciler.adopt([OLD]);
    await stage.untilRuns(1);
    assert.equal(stage.conntrack.table.length, 1);
  });

  it('queries single frontends, or all flows when there are many', async () => {
    const services = Array.from({ length: 5 }, (_, index) =>
      row({ service: `s${index}`, frontends: [`10.96.1.${index} 53`], endpoints: [] }),
    );
    stage.start();
    stage.reconciler.adopt([OLD]);
    await stage.untilRuns(1);
    stage.reconciler.acknowledged(services.map((one) => change(undefined, one)));
    await stage.untilRuns(2);
    const [narrow, wide, ...more] = stage.conntrack.questions;
    assert.deepEqual(narrow?.filter, {
      ...{ version: 4, protocol: 17, destination: '\x0a\x60\x00\x0a', destinationPort: 53 },
    });
    assert.deepEqual(wide, { protocols: new Set([17]), destinationPorts: new Set([53]) });
    assert.deepEqual(more, []);
  });
});

describe('a TCP connection attempt from before its Service existed', () => {
  const WEB = { service: 'web', protocol: 'TCP', frontends: ['10.96.0.20 80'] } as const;
  const none = row({ ...WEB, endpoints: [] });
  const served = row({ ...WEB, endpoints: ['10.1.0.1 8080'] });
  const moved = row({ ...WEB, endpoints: ['10.1.0.2 8080'] });
  const published = row({
    ...WEB,
    frontends: [...WEB.frontends, '198.51.100.1 80', 'node-port 30080'],
    endpoints: ['10.1.0.2 8080'],
  });
  const SYN_SENT = 1;
  const ESTABLISHED = 3;
  const SEEN_REPLY = 2;
  let stage: Stage;

  beforeEach(() => {
    stage = new Stage();
    stage.start();
  });

  afterEach(() => stage.stop());

  function connection(
    clientPort: number,
    to: readonly [string, number],
    more: Parameters<typeof flow>[1] & { by?: readonly [string, number] } = {},
  ) {
    const { by = to, ...rest } = more;
    return flow(
      { protocol: 6, client: ['10.9.9.9', clientPort], destination: to, answeredBy: by },
      { tcpState: SYN_SENT, ...rest },
    );
  }

  const left = (): number[] => stage.conntrack.table.map(({ original }) => original.sourcePort);

  it('loses its conntrack entry at the start, and no other connection does', async () => {
    const to = ['10.96.0.20', 80] as const;
    stage.conntrack.table = [
      connection(1, to),
      connection(2, to, { status: SEEN_REPLY }),
      connection(3, to, { tcpState: ESTABLISHED }),
      connection(4, to, { by: ['10.1.0.1', 8080], status: 32 }),
      connection(5, to, { by: ['10.1.0.7', 8080], status: 32 }),
      connection(6, to, { zone: 1 }),
      connection(7, ['10.96.0.20', 81]),
      connection(8, ['10.96.0.21', 80]),
      connection(9, ['192.168.0.2', 30080]),
      connection(10, ['192.168.0.1', 30080]),
      connection(11, ['198.51.100.1', 80]),
    ];
    stage.reconciler.adopt([published]);
    await stage.untilRuns(1);
    assert.deepEqual(left(), [2, 3, 4, 5, 6, 7, 8, 9]);
    const reasons = stage.deleted.map(({ reason, endpoint }) => `${reason} ${endpoint}`);
    assert.deepEqual(reasons.sort(), [
      'never-translated 10.96.0.20:80',
      'never-translated 192.168.0.1:30080',
      'never-translated 198.51.100.1:80',
    ]);
  });

  it('stays when it goes to an endpoint that has the address and the port of its Service', async () => {
    const itself = row({
      ...{ service: 'itself', protocol: 'TCP', frontends: ['198.51.100.1 80', '198.51.100.2 80'] },
      endpoints: ['198.51.100.1 80'],
    });
    stage.conntrack.table = [
      connection(1, ['198.51.100.1', 80]),
      connection(2, ['198.51.100.2', 80]),
    ];
    stage.reconciler.adopt([itself]);
    await stage.untilRuns(1);
    assert.deepEqual(left(), [1]);
  });

  it('is searched for a first endpoint or a new address, and for no other change', async () => {
    const steps = [
      { from: undefined, to: none, asks: 0 },
      { from: none, to: served, asks: 1 },
      { from: served, to: moved, asks: 0 },
      { from: moved, to: published, asks: 3 },
      { from: published, to: moved, asks: 0 },
      { from: moved, to: none, asks: 0 },
      { from: none, to: undefined, asks: 0 },
      { from: undefined, to: served, asks: 1 },
    ];
    const asked: number[] = [];
    for (const [index, { from, to }] of steps.entries()) {
      const before = stage.conntrack.questions.length;
      // Another need that is scanned each time shows when the scan is over.
      const other = row({
        service: `udp${index}`,
        frontends: [`10.96.9.${index} 53`],
        endpoints: [],
      });
      stage.reconciler.acknowledged([change(from, to), change(undefined, other)]);
      await stage.untilRuns(index + 1);
      asked.push(stage.conntrack.questions.length - before - 1);
    }
    assert.deepEqual(
      asked,
      steps.map(({ asks }) => asks),
    );
  });

  it('stays while a host may still answer, and is checked again a second later', async () => {
    const to = ['10.96.0.20', 80] as const;
    // The kernel reports the timeout of a SYN in whole seconds, rounded down.
    stage.conntrack.table = [
      connection(1, to, { id: 1, timeoutSeconds: 120 }),
      connection(2, to, { id: 2, timeoutSeconds: 119 }),
      connection(3, to, { id: 3, timeoutSeconds: 118 }),
      connection(4, to, { id: 4, timeoutSeconds: 119 }),
    ];
    const acknowledgedAtMs = performance.now();
    stage.reconciler.acknowledged([change(none, served)]);
    await stage.untilRuns(1);
    assert.deepEqual(left(), [1, 2, 4]);
    assert.equal(stage.runs[0]?.youngTries, 3);
    // One is answered, and one more comes; the others have sent another SYN in the meantime.
    stage.conntrack.table = [
      connection(1, to, { id: 1, timeoutSeconds: 119 }),
      connection(2, to, { id: 2, timeoutSeconds: 119, status: SEEN_REPLY, tcpState: 2 }),
      connection(4, to, { id: 4, timeoutSeconds: 119 }),
      connection(5, to, { id: 5, timeoutSeconds: 119 }),
    ];
    await stage.untilRuns(2);
    assert.ok(performance.now() - acknowledgedAtMs >= 1000);
    assert.deepEqual(left(), [2, 5]);
    await stage.untilRuns(3);
    assert.deepEqual(left(), [2]);
  });

  it('keeps the time it was first seen when another scan runs in between', async () => {
    stage.conntrack.table = [connection(1, ['10.96.0.20', 80], { timeoutSeconds: 119 })];
    stage.reconciler.acknowledged([change(none, served)]);
    await stage.untilRuns(1);
    stage.reconciler.acknowledged([change(undefined, OLD), change(none, moved)]);
    await stage.untilRuns(2);
    assert.deepEqual(left(), [1]);
    await stage.untilRuns(3);
    assert.deepEqual(left(), []);
  });

  it('is not checked again when its Service has lost its endpoints meanwhile', async () => {
    stage.conntrack.table = [connection(1, ['10.96.0.20', 80], { timeoutSeconds: 119 })];
    stage.reconciler.acknowledged([change(none, served)]);
    await stage.untilRuns(1);
    const questions = stage.conntrack.questions.length;
    stage.reconciler.acknowledged([change(served, none)]);
    await delay(1100);
    assert.equal(stage.conntrack.questions.length, questions);
    assert.deepEqual(left(), [1]);
  });

  it('is searched again after a kernel error', async () => {
    stage.conntrack.table = [connection(1, ['10.96.0.20', 80])];
    let failures = 1;
    stage.conntrack.onQuestion = () => {
      if (failures-- > 0) throw new Error('no kernel today');
    };
    stage.reconciler.acknowledged([change(none, served)]);
    await stage.untilRuns(2);
    assert.deepEqual(left(), []);
  });

  it('stays when its Service has lost its endpoints again', async () => {
    stage.conntrack.table = [connection(1, ['10.96.0.20', 80])];
    stage.reconciler.acknowledged([change(none, served)]);
    stage.reconciler.acknowledged([change(served, none), change(undefined, OLD)]);
    await stage.untilRuns(1);
    assert.deepEqual(left(), [1]);
  });
});

it('checks kept flows again whose endpoint was still serving', async (test) => {
  let isServing = true;
  const stage = new Stage({ isServing: () => isServing });
  stage.conntrack.table = [flowTo('10.1.0.1')];
  stage.start();
  test.after(() => stage.stop());
  stage.reconciler.adopt([NEW]);
  await stage.untilRuns(1);
  assert.equal(stage.runs[0]?.draining, 1);
  assert.equal(stage.conntrack.table.length, 1);
  await stage.untilRuns(2);
  assert.equal(stage.conntrack.table.length, 1);
  isServing = false;
  await until(() => stage.conntrack.table.length === 0);
});

describe('when an endpoint with kept flows stops serving', () => {
  /** Longer than a test waits for anything. */
  const drainRecheckMs = 60_000;
  let isServing: () => boolean;
  let stage: Stage;

  beforeEach(async () => {
    isServing = () => true;
    stage = new Stage({ isServing: () => isServing() }, { drainRecheckMs });
    stage.conntrack.table = [flowTo('10.1.0.1')];
    stage.start();
  });

  afterEach(() => stage.stop());

  for (const service of ['default/dns', undefined]) {
    it(`checks them at once when ${service ?? 'a Service that is not known'} changes`, async () => {
      stage.reconciler.adopt([NEW]);
      await stage.untilRuns(1);
      assert.equal(stage.runs[0]?.draining, 1);
      isServing = () => false;
      stage.reconciler.endpointsChanged(service);
      await stage.untilRuns(2);
      assert.deepEqual(stage.conntrack.table, []);
    });
  }

  it('scans again when it stops between the verdict and the end of the scan', async () => {
    isServing = () => {
      isServing = () => false;
      stage.reconciler.endpointsChanged('default/dns');
      return true;
    };
    stage.reconciler.adopt([NEW]);
    await until(() => stage.conntrack.table.length === 0);
    assert.deepEqual(
      stage.runs.map(({ draining }) => draining),
      [1, 0],
    );
  });

  it('does not query conntrack when another Service changes', async () => {
    stage.reconciler.adopt([NEW]);
    await stage.untilRuns(1);
    const questions = stage.conntrack.questions.length;
    stage.reconciler.endpointsChanged('default/other');
    stage.reconciler.acknowledged([change(NEW, OLD)]);
    await stage.untilRuns(2);
    assert.equal(stage.conntrack.questions.length, questions + 1);
  });
});

describe('when only some clients are served', () => {
  const OWN = '192.168.0.1';
  const STRANGER = '10.9.9.9';
  const UDP = row({ service: 'dns', frontends, endpoints: ['10.1.0.1 53'] });
  const TCP = row({
    service: 'web',
    protocol: 'TCP',
    frontends: ['10.96.0.20 80'],
    endpoints: ['10.1.0.1 8080'],
  });
  let stage: Stage;

  beforeEach(() => {
    stage = new Stage({}, { clientAddresses: [OWN] });
    stage.start();
  });

  afterEach(() => stage.stop());

  function datagrams(from: string, by: readonly [string, number], status = 0) {
    const about = { protocol: 17, client: [from, 4000], destination: FRONTEND } as const;
    return flow({ ...about, answeredBy: by }, { status });
  }

  function attempt(from: string) {
    const to = ['10.96.0.20', 80] as const;
    const about = { protocol: 6, client: [from, 4000], destination: to, answeredBy: to } as const;
    return flow(about, { tcpState: 1 });
  }

  it('deletes untranslated flows of the machine itself, and of no other client', async () => {
    const others = [datagrams(STRANGER, FRONTEND), attempt(STRANGER)];
    stage.conntrack.table = [...others, datagrams(OWN, FRONTEND), attempt(OWN)];
    stage.reconciler.adopt([UDP, TCP]);
    await stage.untilRuns(1);
    assert.deepEqual(stage.conntrack.table, others);
  });

  it('deletes flows that were translated to a removed endpoint, for every client', async () => {
    const DST_NAT = 32;
    stage.conntrack.table = [datagrams(STRANGER, ['10.1.0.7', 53], DST_NAT)];
    stage.reconciler.adopt([UDP]);
    await stage.untilRuns(1);
    assert.deepEqual(stage.conntrack.table, []);
  });
});
