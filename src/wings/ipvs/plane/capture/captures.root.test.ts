import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { type Drift, type NodeFacts, PlaneError } from '../../../../dataplanes/contract.ts';
import { virtualServerId } from '../../../../linux/ipvs/ipvs-model.ts';
import { enterOwnNetwork, ip, run } from '../../../../linux/netlink/testing/own-namespace.ts';
import type { CaptureElements } from './capture-model.ts';
import { TABLE_FAMILIES } from './capture-sets.ts';
import type { Captures } from './captures.ts';
import type { CapturedFrontend } from './frontend.ts';
import { renderCapture } from './render-capture.ts';
import { FACTS, frontend, listCapture, newCaptures, nft } from './testing/capture-kernel.ts';

// A new one for each test, so that none meets what another has made.
beforeEach(enterOwnNetwork);

const DEADLINE_MS = 30_000;
const FRONTENDS: readonly CapturedFrontend[] = [
  frontend({ address: '10.96.0.1' }),
  frontend({ address: '10.96.0.1', port: 443, protocol: 'UDP' }),
  frontend({
    address: '203.0.113.7',
    protocol: 'SCTP',
    capture: { pod: 'pass', host: 'pass', outside: 'take' },
  }),
  frontend({ address: 'fd00:96::1' }),
];
const LOCAL = ['10.244.0.5', 'fd44::5'];
const REJECTED = { address: '203.0.113.8', protocol: 'TCP', port: 80 } as const;

function elementsOf(frontends: readonly CapturedFrontend[]): CaptureElements {
  const servers = frontends.map(({ address, protocol, port }) => ({ address, protocol, port }));
  return {
    captured: new Map(frontends.map((each) => [virtualServerId(each), each])),
    servers: new Map(servers.map((each) => [virtualServerId(each), each])),
    rejected: new Map([[virtualServerId(REJECTED), REJECTED]]),
    hairpin: new Set(LOCAL),
  };
}

async function fill(captures: Captures): Promise<void> {
  await captures.ensure(FACTS);
  const { servers, captured } = elementsOf(FRONTENDS);
  await captures.write({
    take: [...captured.values()],
    serversAdd: [...servers.values()],
    rejectedAdd: [REJECTED],
    hairpinAdd: LOCAL,
  });
}

function assertListed(facts: NodeFacts, elements: CaptureElements): void {
  for (const family of TABLE_FAMILIES) {
    assert.equal(listCapture(family), renderCapture({ facts, elements }, family));
  }
}

const FACTS_TO_LIST: Readonly<Record<string, NodeFacts>> = {
  'pods by range and by interface': FACTS,
  'another masquerade mark': { ...FACTS, masqueradeMark: 0x1000 },
  'pods that cannot be detected': { ...FACTS, podDetection: { IPv4: undefined, IPv6: undefined } },
  'some client interfaces': { ...FACTS, clientInterfaces: ['cali*', 'eth0'] },
};

describe('the tables of the capture', () => {
  for (const [name, facts] of Object.entries(FACTS_TO_LIST)) {
    it(`are listed by nft as they are rendered, with ${name}`, async () => {
      const captures = newCaptures();
      await fill(captures);
      await captures.remove();
      await captures.ensure(facts);
      const { captured, servers } = elementsOf(FRONTENDS);
      const change = { take: [...captured.values()], serversAdd: [...servers.values()] };
      await captures.write({ ...change, rejectedAdd: [REJECTED], hairpinAdd: LOCAL });
      assertListed(facts, elementsOf(FRONTENDS));
      run(['nft', '-j', 'list', 'ruleset']);
    });
  }

  it('are not written again when they are right', async () => {
    const captures = newCaptures();
    const first = await captures.ensure(FACTS);
    assert.ok(first.writeCount > 0 && first.differenceCount > 0);
    const second = await newCaptures().ensure(FACTS);
    assert.deepEqual(second, { differences: [], differenceCount: 0, writeCount: 0 });
    assert.deepEqual(await captures.diff(FACTS), []);
  });

  it('read back what was written', async () => {
    const captures = newCaptures();
    await fill(captures);
    assert.deepEqual(await newCaptures().read(), elementsOf(FRONTENDS));
  });

  it('change and lose elements in one transaction', async () => {
    const captures = newCaptures();
    await fill(captures);
    const [first, second, ...rest] = FRONTENDS;
    assert.ok(first && second);
    const other = frontend({ ...first, capture: { ...first.capture, pod: 'take-and-masquerade' } });
    await captures.write({
      retake: [other],
      pass: [second],
      serversDelete: [second],
      rejectedDelete: [REJECTED],
      hairpinDelete: LOCAL.slice(0, 1),
    });
    const elements = { ...elementsOf([other, ...rest]), rejected: new Map() };
    assert.deepEqual(await captures.read(), { ...elements, hairpin: new Set(LOCAL.slice(1)) });
  });

  it('keep all elements when one of a transaction is rejected', async () => {
    const captures = newCaptures();
    await fill(captures);
    const unknown = frontend({ address: '10.96.7.7' });
    const added = frontend({ address: '10.96.8.8' });
    await assert.rejects(captures.write({ take: [added], pass: [unknown] }), PlaneError);
    assert.deepEqual(await captures.read(), elementsOf(FRONTENDS));
  });

  it('take another configuration without a loss of elements', async () => {
    const captures = newCaptures();
    await fill(captures);
    const facts: NodeFacts = { ...FACTS, masqueradeMark: 0x1000, clientInterfaces: ['eth0'] };
    await captures.configure(facts);
    assert.deepEqual(await captures.diff(facts), []);
    assertListed(facts, elementsOf(FRONTENDS));
    assert.match(run(['ip', 'rule']), /fwmark 0x800\/0x800 lookup 120/);
    assert.doesNotMatch(run(['ip', 'rule']), /0x1000/);
  });

  it('keep what says which virtual servers are ours when they are built anew', async () => {
    const captures = newCaptures();
    await fill(captures);
    nft(`delete chain ip fairlead-ipvs input-late
        add chain ip fairlead-ipvs input-late { type filter hook input priority 7; }`);
    await newCaptures().ensure(FACTS);
    const { captured, servers } = await captures.read();
    assert.deepEqual(servers, elementsOf(FRONTENDS).servers);
    assert.ok(
      [...captured.keys()].every((id) => id.includes(':')),
      'it was not built anew',
    );
  });

  it('tell whether connections were captured with another mark', async () => {
    const captures = newCaptures();
    const other = { ...FACTS, masqueradeMark: 0x1000 };
    assert.equal(await captures.hasOtherMark(other), false);
    await captures.ensure(FACTS);
    assert.equal(await newCaptures().hasOtherMark(FACTS), false);
    assert.equal(await newCaptures().hasOtherMark(other), true);
    await newCaptures().ensure(other);
    assert.equal(await newCaptures().hasOtherMark(other), false);
    assert.doesNotMatch(run(['ip', 'rule']), /0x1000/);
  });

  it('keep chains and routing for captured connections when they are retired', async () => {
    const captures = newCaptures();
    await fill(captures);
    assert.equal(await captures.state(), 'active');
    const before = listCapture('ip');
    await captures.retire();
    assert.equal(await newCaptures().state(), 'retired');
    const { captured, servers } = await captures.read();
    assert.deepEqual([captured.size, servers.size], [0, FRONTENDS.length]);
    const rules = (text: string) => text.match(/^\t\t.*(mark|saddr).*$/gm)?.length ?? 0;
    assert.ok(rules(before) > rules(listCapture('ip')));
    assert.match(run(['ip', 'rule']), /fwmark 0x1000\/0x1000 lookup 120/);
    assert.match(run(['ip', '-6', 'route', 'show', 'table', '120']), /local default dev lo/);
    await newCaptures().ensure(FACTS);
    assert.equal(await captures.state(), 'active');
  });

  it('leave nothing behind', async () => {
    const captures = newCaptures();
    const clean = [run(['nft', 'list', 'ruleset']), run(['ip', 'rule']), run(['ip', '-6', 'rule'])];
    await fill(captures);
    const held = new Map((await captures.inventory()).map(({ what, count }) => [what, count]));
    assert.deepEqual(
      ['tables', 'sets', 'addresses', 'routes', 'routing rules'].map((what) =>
        held.get(what as 'tables'),
      ),
      [2, 8, 4, 2, 4],
    );
    // Of an agent that has not seen them.
    await newCaptures().remove();
    assert.deepEqual(await captures.inventory(), []);
    assert.equal(await captures.state(), 'absent');
    const after = [run(['nft', 'list', 'ruleset']), run(['ip', 'rule']), run(['ip', '-6', 'rule'])];
    assert.deepEqual(after, clean);
    assert.equal(run(['ip', 'route', 'show', 'table', 'all']).includes('table 120'), false);
  });

  it('are not made by retiring what is not there', async () => {
    await newCaptures().retire();
    assert.equal(await newCaptures().state(), 'absent');
  });
});

const CHANGES: readonly {
  readonly what: string;
  readonly act: () => void;
  readonly told: RegExp;
}[] = [
  {
    what: 'deletes a table',
    act: () => nft('delete table ip6 fairlead-ipvs'),
    told: /of ip6 fairlead-ipvs/,
  },
  {
    what: 'flushes a chain',
    act: () => nft('flush chain ip fairlead-ipvs output'),
    told: /deleted rule of chain output of ip fairlead-ipvs/,
  },
  {
    what: 'puts a base chain at another priority',
    act: () =>
      nft(`delete chain ip fairlead-ipvs input-late
          add chain ip fairlead-ipvs input-late { type filter hook input priority 7; }`),
    told: /chain input-late/,
  },
  {
    what: 'adds a chain',
    act: () => nft('add chain ip fairlead-ipvs theirs'),
    told: /added chain theirs of ip fairlead-ipvs/,
  },
  {
    what: 'deletes a routing rule',
    act: () => ip('rule del priority 120'),
    told: /deleted ip rule fwmark 0x00001000\/0x00001000 lookup 120/,
  },
  {
    what: 'deletes a routing rule for packets of own sockets',
    act: () => run(['ip', '-6', 'rule', 'del', 'priority', '119']),
    told: /deleted ip -6 rule fwmark 0x00001000\/0x00001000 iif lo lookup main/,
  },
  {
    what: 'deletes the IPv6 route',
    act: () => run(['ip', '-6', 'route', 'flush', 'table', '120']),
    told: /deleted ip -6 route local default dev lo table 120/,
  },
];

describe('a change of the capture by another process', () => {
  for (const { what, act, told } of CHANGES) {
    it(`that ${what} is reported, and undone`, async () => {
      const captures = newCaptures();
      await fill(captures);
      await using watching = new Watching(captures);
      act();
      await watching.heard(1);
      assert.match(watching.drifts[0]?.what ?? '', told);
      assert.equal(captures.takeReported(), true);
      const attached = (await captures.attachments()).every(({ isAttached }) => isAttached);
      assert.equal(attached, /^(flushes|adds|puts)/.test(what));
      assert.notDeepEqual(await captures.diff(FACTS), []);
      const { differenceCount } = await captures.ensure(FACTS);
      assert.ok(differenceCount > 0);
      assert.deepEqual(await captures.diff(FACTS), []);
      assert.ok((await captures.attachments()).every(({ isAttached }) => isAttached));
      assert.equal(watching.drifts.length, 1, 'our own repair is no drift');
    });
  }

  it('of an element is reported by its name', async () => {
    const captures = newCaptures();
    await fill(captures);
    await using watching = new Watching(captures);
    nft('delete element ip fairlead-ipvs captured { 10.96.0.1 . tcp . 80 }');
    await watching.heard(1);
    assert.equal(
      watching.drifts[0]?.what,
      'deleted ip fairlead-ipvs map captured { 10.96.0.1 . tcp . 80 }',
    );
    assert.equal(watching.drifts[0]?.by?.program, 'nft');
  });

  it('is told from our own writes and from other tables', async () => {
    const captures = newCaptures();
    await captures.ensure(FACTS);
    await using watching = new Watching(captures);
    await fill(captures);
    await captures.retire();
    await captures.ensure(FACTS);
    nft('add table ip theirs');
    nft('add element ip fairlead-ipvs captured { 10.96.9.9 . tcp . 80 : 0x133 }');
    await watching.heard(1);
    assert.match(watching.drifts[0]?.what ?? '', /^added .*10\.96\.9\.9/);
  });
});

class Watching implements AsyncDisposable {
  readonly drifts: Drift[] = [];
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(captures: Captures) {
    this.#running = captures.watch((drift) => this.drifts.push(drift), this.#stop.signal);
  }

  async heard(count: number): Promise<void> {
    const late = AbortSignal.timeout(DEADLINE_MS);
    while (this.drifts.length < count) {
      assert.ok(!late.aborted, `heard ${JSON.stringify(this.drifts)}`);
      await delay(2);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}
