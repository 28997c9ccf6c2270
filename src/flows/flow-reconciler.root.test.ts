import assert from 'node:assert/strict';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Forwarding } from '../forwarding/model.ts';
import { KernelConntrack } from '../linux/conntrack/conntrack.ts';
import { enterOwnNetwork, ip, run } from '../linux/netlink/testing/own-namespace.ts';
import type { Deleted, FlowRun } from './flow-observer.ts';
import { FlowReconciler } from './flow-reconciler.ts';
import { change, row } from './testing/flow-rows.ts';

enterOwnNetwork();
ip(
  ...['10.244.0.1', '10.244.0.2', '192.168.0.1'].map((one) => `addr add ${one}/32 dev lo`),
  'route add local 10.96.0.0/16 dev lo',
);

const FRONTENDS = ['10.96.0.10 53', '198.51.100.1 53', 'node-port 30053'];
const OLD = row({ service: 'dns', frontends: FRONTENDS, endpoints: ['10.244.0.1 5353'] });
const NEW = row({ service: 'dns', frontends: FRONTENDS, endpoints: ['10.244.0.2 5353'] });

/** So many frontends that the kernel is not asked to filter, with the ports of unrelated flows. */
const NEIGHBOUR = row({
  service: 'neighbour',
  frontends: ['10.96.7.1 54', '10.96.7.2 8472', '10.96.7.3 53', '10.96.7.4 30053'],
  endpoints: ['10.244.0.9 54'],
});

/** A reconciler at work on the flows of this namespace. */
class Stage {
  readonly deleted: Deleted[] = [];
  readonly reconciler: FlowReconciler;
  readonly #aborter = new AbortController();
  readonly #ended: Promise<void>;
  #ran = Promise.withResolvers<FlowRun>();

  constructor() {
    this.reconciler = new FlowReconciler({
      conntrack: new KernelConntrack(),
      nodePortAddresses: () => ['192.168.0.1', 'fd00:1::1'],
      observer: {
        onDeleted: (deleted) => this.deleted.push(deleted),
        onRun: (ran) => this.#ran.resolve(ran),
      },
      options: {},
    });
    this.#ended = this.reconciler.run(this.#aborter.signal);
  }

  /** Applies a change that needs a scan, and waits for the end of the scan. */
  async after(cause: () => void): Promise<FlowRun> {
    this.#ran = Promise.withResolvers();
    cause();
    const ran = await this.#ran.promise;
    assert.equal(ran.error, undefined);
    return ran;
  }

  async stop(): Promise<void> {
    this.#aborter.abort();
    await this.#ended;
  }

  reasons(): string[] {
    return this.deleted.map(({ reason, endpoint, count }) => `${count} ${reason} ${endpoint}`);
  }
}

interface Entry {
  readonly name: string;
  readonly protocol?: string;
  readonly to: readonly [address: string, port: number];
  /** None: never translated. */
  readonly by?: readonly [address: string, port: number];
  readonly zone?: number;
}

const STATES: Readonly<Record<string, readonly string[]>> = {
  tcp: ['--state', 'ESTABLISHED'],
  sctp: ['--state', 'ESTABLISHED', '--orig-vtag', '1', '--reply-vtag', '2'],
};

/** Makes entries as packets would, and gives each its id. */
function insert(entries: readonly Entry[]): Map<string, string> {
  const names = new Map<string, string>();
  entries.forEach(({ name, protocol = 'udp', to, by = to, zone }, index) => {
    const client = to[0].includes(':') ? 'fd00:9::9' : '10.9.9.9';
    const port = String(20_000 + index);
    const state = STATES[protocol] ?? [];
    run([
      ...(['conntrack', '-I', '-p', protocol, '-t', '600', '-s', client, '-d', to[0]] as const),
      ...['--sport', port, '--dport', String(to[1]), '-r', by[0], '-q', client],
      ...['--reply-port-src', String(by[1]), '--reply-port-dst', port, ...state],
      ...(zone === undefined ? [] : ['-w', String(zone)]),
    ]);
    names.set(port, name);
  });
  const ids = new Map<string, string>();
  for (const [id, line] of lines()) {
    const name = names.get(/sport=(\d+)/.exec(line)?.[1] ?? '');
    if (name) ids.set(id, name);
  }
  assert.equal(ids.size, entries.length);
  return ids;
}

function lines(): Map<string, string> {
  const all = ['ipv4', 'ipv6'].flatMap((family) =>
    run(['conntrack', '-L', '-f', family, '-o', 'id']).split('\n'),
  );
  return new Map(
    all.flatMap((line) => {
      const id = /id=(\d+)/.exec(line)?.[1];
      return id === undefined ? [] : [[id, line]];
    }),
  );
}

/** The names of the deleted entries; compared by id, so a recreated one counts as deleted. */
function gone(ids: ReadonlyMap<string, string>): string[] {
  const left = lines();
  return [...ids]
    .filter(([id]) => !left.has(id))
    .map(([, name]) => name)
    .sort();
}

const UNRELATED: readonly Entry[] = [
  { name: 'VXLAN', to: ['10.0.0.2', 8472] },
  { name: 'DNS elsewhere', to: ['8.8.8.8', 53] },
  { name: 'same address, other port', to: ['10.96.0.10', 54], by: ['10.244.0.1', 5353] },
  { name: 'same port, other address', to: ['10.96.0.11', 53], by: ['10.244.0.1', 5353] },
  { name: 'TCP', protocol: 'tcp', to: ['10.96.0.10', 53], by: ['10.244.0.1', 5353] },
  { name: 'other zone', to: ['10.96.0.10', 53], by: ['10.244.0.1', 5353], zone: 3 },
  { name: 'node port of another node', to: ['192.168.0.2', 30053], by: ['10.244.0.1', 5353] },
  { name: 'VXLAN to the node itself', to: ['192.168.0.1', 8472] },
  { name: 'IPv6, same port', to: ['fd00:96::10', 53], by: ['fd00:244::1', 5353] },
];
const TO_OLD: readonly Entry[] = [
  { name: 'cluster IP', to: ['10.96.0.10', 53], by: ['10.244.0.1', 5353] },
  { name: 'external IP', to: ['198.51.100.1', 53], by: ['10.244.0.1', 5353] },
  { name: 'node port', to: ['192.168.0.1', 30053], by: ['10.244.0.1', 5353] },
];
const VALID: readonly Entry[] = [
  { name: 'valid', to: ['10.96.0.10', 53], by: ['10.244.0.2', 5353] },
  { name: 'valid node port', to: ['192.168.0.1', 30053], by: ['10.244.0.2', 5353] },
];
const UNTOUCHED: readonly Entry[] = [
  { name: 'untouched', to: ['10.96.0.10', 53] },
  { name: 'untouched node port', to: ['192.168.0.1', 30053] },
];

describe('flows in the kernel', () => {
  let stage: Stage;

  beforeEach(() => {
    run(['conntrack', '-F']);
    run(['nft', 'flush', 'ruleset']);
    stage = new Stage();
  });

  afterEach(() => stage.stop());

  it('of a removed endpoint are deleted, and no others', async () => {
    await stage.after(() => stage.reconciler.adopt([OLD]));
    const ids = insert([...UNRELATED, ...TO_OLD, ...VALID]);
    const ran = await stage.after(() => stage.reconciler.acknowledged([change(OLD, NEW)]));
    assert.deepEqual(gone(ids), ['cluster IP', 'external IP', 'node port']);
    assert.equal(ran.deleted, 3);
    assert.deepEqual(stage.reasons(), ['3 endpoint-gone 10.244.0.1:5353']);
  });

  it('are kept at a restart, if they are valid', async () => {
    const ids = insert([...UNRELATED, ...VALID, ...UNTOUCHED, ...TO_OLD]);
    await stage.after(() => stage.reconciler.adopt([NEW, NEIGHBOUR]));
    const stale = [...UNTOUCHED, ...TO_OLD].map(({ name }) => name);
    assert.deepEqual(gone(ids), stale.sort());
  });

  for (const [what, after] of [
    ['scaled to zero', row({ service: 'dns', frontends: FRONTENDS, endpoints: [] })],
    ['deleted', undefined],
  ] as const) {
    it(`of a Service that was ${what} are deleted`, async () => {
      await stage.after(() => stage.reconciler.adopt([OLD]));
      const ids = insert([...UNRELATED, ...TO_OLD]);
      await stage.after(() => stage.reconciler.acknowledged([change(OLD, after)]));
      assert.deepEqual(gone(ids), ['cluster IP', 'external IP', 'node port']);
    });
  }

  it('to a frontend that an older Service owns are kept', async () => {
    const lost = row({ ...SKETCH, frontends: ['10.96.0.10 53 lost', '10.96.9.9 53'] });
    const ids = insert([...UNTOUCHED, ...TO_OLD]);
    await stage.after(() => stage.reconciler.adopt([lost]));
    assert.deepEqual(gone(ids), []);
  });

  it('of SCTP and of IPv6 are deleted in the same way', async () => {
    const sctp = row({
      ...SKETCH,
      protocol: 'SCTP',
      frontends: ['10.96.0.20 99'],
      endpoints: ['10.244.0.2 99'],
    });
    const six = row({
      ...SKETCH,
      family: 'IPv6',
      frontends: ['fd00:96::10 53', 'node-port 30053'],
      endpoints: ['fd00:244::2 5353'],
    });
    const ids = insert([
      { name: 'SCTP', protocol: 'sctp', to: ['10.96.0.20', 99], by: ['10.244.0.1', 99] },
      { name: 'SCTP valid', protocol: 'sctp', to: ['10.96.0.20', 99], by: ['10.244.0.2', 99] },
      { name: 'six', to: ['fd00:96::10', 53], by: ['fd00:244::1', 5353] },
      { name: 'six valid', to: ['fd00:96::10', 53], by: ['fd00:244::2', 5353] },
      { name: 'six elsewhere', to: ['fd00:96::11', 53], by: ['fd00:244::1', 5353] },
      { name: 'six node port', to: ['fd00:1::1', 30053], by: ['fd00:244::1', 5353] },
    ]);
    await stage.after(() => stage.reconciler.adopt([sctp]));
    await stage.after(() => stage.reconciler.acknowledged([change(undefined, six)]));
    assert.deepEqual(gone(ids), ['SCTP', 'six', 'six node port']);
  });
});

const SKETCH = { service: 'other', frontends: [], endpoints: ['10.244.0.2 5353'] } as const;

describe('a client that holds one UDP socket', () => {
  let stage: Stage;
  let sockets: Socket[] = [];

  beforeEach(() => {
    run(['conntrack', '-F']);
    stage = new Stage();
  });

  afterEach(async () => {
    for (const socket of sockets) socket.close();
    sockets = [];
    await stage.stop();
  });

  async function open(address: string, port: number): Promise<Socket> {
    const socket = createSocket('udp4');
    sockets.push(socket);
    socket.bind(port, address);
    await once(socket, 'listening');
    return socket;
  }

  async function serve(address: string): Promise<void> {
    const socket = await open(address, 5353);
    socket.on('message', (_, from) => socket.send(address, from.port, from.address));
  }

  /** Asks until there is an answer: the first packets may get lost. */
  async function ask(client: Socket): Promise<string> {
    const signal = AbortSignal.timeout(1000);
    client.send('who?', 53, '10.96.0.10');
    const [answer] = (await once(client, 'message', { signal })) as [Buffer];
    return answer.toString();
  }

  function forward({ clusterEndpoints: [endpoint] }: Forwarding): void {
    run(
      ['nft', '-f', '-'],
      `flush ruleset
       table ip t {
         chain out {
           type nat hook output priority -100
           ip daddr 10.96.0.10 udp dport 53 dnat to ${endpoint?.address}:${endpoint?.port}
         }
       }
      `,
    );
  }

  it('reaches the new endpoint as soon as the old one is removed', async () => {
    await Promise.all(['10.244.0.1', '10.244.0.2'].map(serve));
    const client = await open('192.168.0.1', 0);
    forward(OLD);
    await stage.after(() => stage.reconciler.adopt([OLD]));
    assert.equal(await ask(client), '10.244.0.1');
    forward(NEW);
    assert.equal(await ask(client), '10.244.0.1', 'without a look the old one answers for ever');
    await stage.after(() => stage.reconciler.acknowledged([change(OLD, NEW)]));
    assert.equal(await ask(client), '10.244.0.2');
  });

  it('reaches the Service although it sent before there were rules', async () => {
    await serve('10.244.0.1');
    // Any rule that matches on ct state makes the kernel track connections.
    run(
      ['nft', '-f', '-'],
      'flush ruleset\ntable ip t {\nchain c {\ntype filter hook output priority 0\nct state invalid drop\n}\n}\n',
    );
    const client = await open('192.168.0.1', 0);
    client.on('error', () => undefined);
    await assert.rejects(ask(client), { name: 'AbortError' });
    forward(OLD);
    await assert.rejects(ask(client), { name: 'AbortError' }, 'the old entry swallows it');
    await stage.after(() => stage.reconciler.adopt([OLD]));
    assert.deepEqual(stage.reasons(), ['1 never-translated 10.96.0.10:53']);
    assert.equal(await ask(client), '10.244.0.1');
  });
});
