import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Drift } from '../../../dataplanes/contract.ts';
import { change } from '../../../dataplanes/shared/testing/plane-change.ts';
import type { Forwarding } from '../../../forwarding/model.ts';
import { enterOwnNetwork } from '../../../linux/netlink/testing/own-namespace.ts';
import { BACKENDS } from '../../../linux/xtables/iptables-programs.ts';
import { rowChainNames } from './chain-names.ts';
import type { IptablesPlane } from './iptables-plane.ts';
import { bring, Tools } from './testing/bring-iptables.ts';
import { upstreamRows } from './testing/iptables-rows.ts';

beforeEach(enterOwnNetwork);

const ROWS = upstreamRows();
/**
 * A limit for the test only; `npm run break -- drift` measures the time: a busy machine may be
 * late.
 */
const DEADLINE_MS = 30_000;

class Watching implements AsyncDisposable {
  readonly plane: IptablesPlane;
  readonly drifts: Drift[] = [];
  readonly #stop = new AbortController();
  #running = Promise.resolve();

  constructor(tools: Tools) {
    this.plane = tools.newPlane();
  }

  async start(): Promise<this> {
    await bring(this.plane, ROWS);
    this.#running = this.plane.watch((drift) => this.drifts.push(drift), this.#stop.signal);
    return this;
  }

  async heard(): Promise<Drift> {
    const late = AbortSignal.timeout(DEADLINE_MS);
    for (;;) {
      const drift = this.drifts.shift();
      if (drift) return drift;
      assert.ok(!late.aborted, 'nothing was heard');
      await delay(5);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

const { cluster, local } = rowChainNames((ROWS[0] as Forwarding).id);

/** The change, by one or more calls of iptables. */
const TOUCHES: readonly (readonly [string, ...(readonly string[])[]])[] = [
  ['a flush of nat', ['-t', 'nat', '-F']],
  ['a flush of filter', ['-t', 'filter', '-F']],
  ['one way less', ['-t', 'nat', '-D', 'PREROUTING', '1']],
  ['a canary that is gone', ['-t', 'mangle', '-X', 'KUBE-PROXY-CANARY']],
  ['the canary of nat is gone', ['-t', 'nat', '-X', 'KUBE-PROXY-CANARY']],
  ['the canary of filter is gone', ['-t', 'filter', '-X', 'KUBE-PROXY-CANARY']],
  ['a rule of a Service is gone', ['-t', 'nat', '-D', cluster, '1']],
  ['a Service is led to no more', ['-t', 'nat', '-D', 'KUBE-SERVICES', '1']],
  ['a rule too many', ['-t', 'nat', '-I', 'KUBE-SERVICES', '-d', '10.96.9.9', '-j', 'RETURN']],
  ['a chain of a Service that it has not', ['-t', 'nat', '-N', local]],
  ['a rule of our own parts is gone', ['-t', 'nat', '-D', 'KUBE-POSTROUTING', '1']],
  [
    'an emptied chain, and a way less in the other table',
    ['-t', 'nat', '-F', cluster],
    ['-t', 'filter', '-D', 'FORWARD', '1'],
  ],
];

for (const backend of BACKENDS) {
  const tools = new Tools(backend);

  describe(`a change by another process on ${backend}`, () => {
    before(() => tools.prepare());
    after(() => tools.remove());

    // The legacy tables are always read as a whole, whichever chain has changed.
    for (const [what, ...calls] of backend === 'nft' ? TOUCHES : TOUCHES.slice(0, 4)) {
      it(`is noticed and undone: ${what}`, async () => {
        await using watching = await new Watching(tools).start();
        for (const args of calls) tools.iptables(...args);
        for (const _ of calls) await watching.heard();
        const { differenceCount } = await bring(watching.plane, ROWS, 'reported');
        assert.ok(differenceCount > 0, 'a difference is found');
        tools.assertIs(ROWS);
      });
    }
  });
}

describe('the watch on nft', () => {
  const tools = new Tools('nft');
  before(() => tools.prepare());
  after(() => tools.remove());

  it('ignores our own changes and the rules of others', async () => {
    await using watching = await new Watching(tools).start();
    const [row] = ROWS;
    await watching.plane.apply([change(row ?? 'absent', undefined)]);
    tools.iptables('-t', 'filter', '-A', 'FORWARD', '-s', '192.0.2.1', '-j', 'ACCEPT');
    tools.iptables('-t', 'nat', '-N', 'THEIRS');
    tools.iptables('-t', 'filter', '-P', 'FORWARD', 'DROP');
    const drift = await watching.heard();
    assert.match(drift.what, /chain FORWARD of ip filter/, 'only the policy is told');
  });

  it('finds nothing to repair after a Service-like chain was added and deleted', async () => {
    await using watching = await new Watching(tools).start();
    tools.iptables('-t', 'nat', '-N', 'KUBE-SVC-STRAY');
    tools.iptables('-t', 'nat', '-X', 'KUBE-SVC-STRAY');
    for (const _ of ['made', 'gone']) await watching.heard();
    const { differenceCount, right } = await bring(watching.plane, ROWS, 'reported');
    assert.deepEqual([differenceCount, right.size], [0, ROWS.length]);
    tools.assertIs(ROWS);
  });

  it('reports a policy of another process and leaves it as it is', async () => {
    await using watching = await new Watching(tools).start();
    tools.iptables('-t', 'filter', '-P', 'FORWARD', 'DROP');
    await watching.heard();
    const { differenceCount } = await bring(watching.plane, ROWS, 'reported');
    assert.equal(differenceCount, 0);
    assert.match(tools.iptables('-t', 'filter', '-S', 'FORWARD'), /^-P FORWARD DROP/);
  });
});

describe('a kernel setting that rules depend on, on nft', () => {
  const tools = new Tools('nft');
  before(() => tools.prepare());
  after(() => tools.remove());

  it('is applied when only the reported chains are inspected', async () => {
    const plane = tools.newPlane();
    await bring(plane, ROWS);
    const invalid = /--ctstate INVALID/;
    assert.match(tools.iptables('-t', 'filter', '-S', 'KUBE-FORWARD'), invalid);
    writeFileSync('/proc/sys/net/netfilter/nf_conntrack_tcp_be_liberal', '1');
    await bring(plane, ROWS, 'reported');
    assert.doesNotMatch(tools.iptables('-t', 'filter', '-S', 'KUBE-FORWARD'), invalid);
  });
});
