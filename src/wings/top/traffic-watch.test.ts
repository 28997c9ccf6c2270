import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ServedPort } from '../../agent/servers/traffic-pages.ts';
import type { RejectedCount } from '../../dataplanes/contract.ts';
import type { SourceClass } from '../../forwarding/model.ts';
import { addressBytes } from '../../linux/conntrack/address-bytes.ts';
import type { Flow } from '../../linux/conntrack/flow.ts';
import type { NewFlowListener } from '../../linux/top/new-flows.ts';
import type { ClientFigures, ServiceFigures, Tick } from './traffic-figures.ts';
import { TrafficWatch } from './traffic-watch.ts';

const bytes = (text: string): string => addressBytes(text) ?? '';

function flowTo(service: string, options: { client?: string; tcpState?: number } = {}): Flow {
  const { client = '10.1.0.9', tcpState = 3 } = options;
  const source = { source: bytes(client), sourcePort: 4000 };
  return {
    version: 4,
    protocol: 6,
    original: { ...source, destination: bytes(service), destinationPort: 80 },
    reply: {
      source: bytes('10.244.0.7'),
      sourcePort: 8080,
      destination: bytes(client),
      destinationPort: 4000,
    },
    ...{ status: 0, id: 1, zone: 0, mark: 0, timeoutSeconds: 9, tcpState },
  };
}

/** Service port `number`, at 10.96.HIGH.LOW:80. */
const keyOf = (number: number): string => `shop/s${number}/TCP/IPv4`;
const addressOf = (number: number): string => `10.96.${number >> 8}.${number & 255}`;

/** An agent, a kernel and a clock, all in the hands of the test. */
class World {
  nowMs = 0;
  readonly connections = new Map<number, number>();
  rejected: readonly RejectedCount[] | undefined = [];
  flows: readonly Flow[] = [];
  readonly asked: (readonly string[])[] = [];
  servedReads = 0;
  version = 'first';
  lastVersion: string | undefined;
  sweeps = 0;
  sweepCostMs = 1;
  #listener: NewFlowListener | undefined;
  readonly #ports: readonly ServedPort[];

  constructor(serviceCount: number) {
    const numbers = Array.from({ length: serviceCount }, (_, index) => index + 1);
    this.#ports = numbers.map((each) => [keyOf(each), [[addressOf(each), 80]]]);
  }

  hear(flow: Flow, count = 1): void {
    for (let index = 0; index < count; index++) this.#listener?.onFlow(flow);
  }

  watch(
    options: {
      mostEvents?: number;
      unseenSources?: readonly SourceClass[];
      hearsClients?: boolean;
      alsoRead?: () => readonly string[];
    } = {},
  ): TrafficWatch {
    const { mostEvents = 1000, unseenSources = [], hearsClients = true, alsoRead } = options;
    const world = this;
    return new TrafficWatch({
      agent: {
        served: async (version) => {
          world.servedReads += 1;
          world.lastVersion = version;
          if (version === world.version) return undefined;
          return { ports: world.#ports, version: world.version };
        },
        counts: async (keys) => {
          world.asked.push(keys);
          return {
            tookMs: 1,
            value: { counts: keys.map((key) => world.#count(key)), empty: [], leftOut: [] },
          };
        },
        rejected: async () => ({ tookMs: 1, value: world.rejected }),
        totals: async () => ({
          tookMs: 1,
          value: new Map([...world.connections].map(([number, n]) => [keyOf(number), n])),
        }),
      },
      conntrack: {
        async *flows() {
          world.sweeps += 1;
          world.nowMs += world.sweepCostMs;
          yield world.flows;
        },
      },
      listen: async (listener, signal) => {
        world.#listener = listener;
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        if (world.#listener === listener) world.#listener = undefined;
      },
      mode: 'nftables',
      unseenSources,
      hearsClients,
      handedOverTo: new Set(),
      classOf: (client) =>
        client === '192.0.2.1' ? 'host' : client.startsWith('10.1.') ? 'pod' : 'outside',
      monotonicMs: () => world.nowMs,
      mostEvents,
      ...(alsoRead === undefined ? {} : { alsoRead }),
      signal: new AbortController().signal,
    });
  }

  #count(key: string) {
    const number = Number(/s(\d+)/.exec(key)?.[1]);
    const connections = this.connections.get(number) ?? 0;
    return { service: key, endpoint: '10.244.0.7:8080', connections, bytes: 0 };
  }
}

const services = (tick: Tick) => tick.rows as readonly ServiceFigures[];

it('asks for the counters of the busiest of many Services only', async () => {
  const world = new World(5000);
  const watch = world.watch();
  await watch.begin();
  world.hear(flowTo(addressOf(4711)), 5);
  world.connections.set(4711, 5);
  world.nowMs += 2000;
  const first = await watch.tick('service', 10);
  assert.deepEqual(
    services(first).map(({ service, newPerSecond }) => [service, newPerSecond]),
    [['shop/s4711', 2.5]],
  );
  world.hear(flowTo(addressOf(4711)));
  world.connections.set(4711, 9);
  world.nowMs += 2000;
  const second = await watch.tick('service', 10);
  assert.equal(services(second)[0]?.newPerSecond, 4 / 2.001, 'from counters, not from events');
  assert.ok(world.asked.every((keys) => keys.length <= 100));
  assert.deepEqual(second.totals.knownServices, 5000);
});

it('shows no rate of a client, and a note, when there are more events than it may read', async () => {
  const world = new World(2);
  const watch = world.watch({ mostEvents: 10 });
  await watch.begin();
  world.hear(flowTo(addressOf(1)), 500);
  world.connections.set(1, 500);
  world.nowMs += 1000;
  const tick = await watch.tick('client', 10);
  assert.deepEqual([tick.sources.events, tick.sources.eventCount], ['sampled', 10]);
  const [client] = tick.rows as readonly ClientFigures[];
  assert.deepEqual([client?.client, client?.newPerSecond], ['10.1.0.9', undefined]);
  assert.match(tick.notes.join(), /Rates of clients are unknown/);
  world.nowMs += 1000;
  world.connections.set(1, 700);
  const next = await watch.tick('service', 10);
  assert.ok((services(next)[0]?.newPerSecond ?? 0) > 190, 'counters still tell');
});

it('counts live connections without those that are only remembered', async () => {
  const world = new World(1);
  world.flows = [1, 2, 3, 4, 5, 6, 7, 8].map((tcpState) => flowTo(addressOf(1), { tcpState }));
  const watch = world.watch();
  await watch.begin();
  world.nowMs += 1000;
  const [row] = services(await watch.tick('service', 10));
  assert.equal(row?.live, 4);
});

it('sweeps a large table at most every 30 s, and shows how old the figure is', async () => {
  const world = new World(1);
  world.flows = Array.from({ length: 20_001 }, () => flowTo(addressOf(1)));
  const watch = world.watch();
  await watch.begin();
  const ages: (number | undefined)[] = [];
  for (let tick = 0; tick < 20; tick++) {
    world.nowMs += 2000;
    ages.push((await watch.tick('service', 10)).sources.liveAgeSeconds);
  }
  assert.equal(world.sweeps, 2);
  assert.deepEqual(ages.slice(0, 3), [2, 4, 6]);
  assert.equal(Math.max(...ages.map((age) => age ?? 0)), 28);
});

it('spends a fiftieth of the time on sweeps', async () => {
  const world = new World(1);
  world.flows = [flowTo(addressOf(1))];
  world.sweepCostMs = 100;
  const watch = world.watch();
  await watch.begin();
  for (let tick = 0; tick < 100; tick++) {
    world.nowMs += 1000;
    await watch.tick('service', 10);
  }
  assert.equal(world.sweeps, 22);
});

it('leaves out what the mode cannot know, and says so', async () => {
  const world = new World(1);
  world.rejected = undefined;
  world.flows = [flowTo(addressOf(1))];
  const watch = world.watch({ unseenSources: ['pod', 'host'] });
  await watch.begin();
  world.connections.set(1, 8);
  world.nowMs += 1000;
  const tick = await watch.tick('service', 10);
  const [row] = services(tick);
  assert.deepEqual([row?.newPerSecond, row?.live, row?.rejected], [8, undefined, undefined]);
  assert.equal(world.sweeps, 0);
  assert.equal(tick.notes.length, 2);
});

it('tells what it does not know of a client from zero, and why', async () => {
  const world = new World(1);
  const own = { client: '192.0.2.1' };
  world.flows = [flowTo(addressOf(1)), flowTo(addressOf(1), own)];
  const watch = world.watch({ unseenSources: ['host'], hearsClients: false });
  await watch.begin();
  world.hear(flowTo(addressOf(1)));
  world.hear(flowTo(addressOf(1), own));
  world.nowMs += 1000;
  const tick = await watch.tick('client', 10);
  const rows = tick.rows as readonly ClientFigures[];
  assert.deepEqual(
    rows.map(({ client, newPerSecond, live }) => [client, newPerSecond, live]),
    [
      ['10.1.0.9', undefined, 1],
      ['192.0.2.1', undefined, undefined],
    ],
  );
  assert.match(tick.notes[0] ?? '', /^The kernel tells of no new connection that a program/);
  assert.match(tick.notes[1] ?? '', /without the sockets of this node itself/);
  assert.equal(tick.notes.length, 2);
});

it('finds the busy ones of many Services by totals where conntrack does not have them', async () => {
  const world = new World(5000);
  const watch = world.watch({ unseenSources: ['pod', 'host'] });
  await watch.begin();
  world.connections.set(3000, 10);
  world.nowMs += 1000;
  await watch.tick('service', 10);
  world.connections.set(3000, 30);
  world.nowMs += 1000;
  const [row] = services(await watch.tick('service', 10));
  assert.deepEqual([row?.service, row?.newPerSecond], ['shop/s3000', 20]);
});

it('shows a Service that only rejects', async () => {
  const world = new World(5000);
  const watch = world.watch();
  await watch.begin();
  world.rejected = [{ service: keyOf(77), rejected: 6, dropped: 0 }];
  world.nowMs += 1000;
  const tick = await watch.tick('service', 10);
  assert.equal(services(tick)[0]?.service, 'shop/s77');
  assert.ok((services(tick)[0]?.rejectedPerSecond ?? 0) > 5.9);
});

it('also asks for the counters of Services that somebody looks at', async () => {
  const world = new World(5000);
  const watch = world.watch({ alsoRead: () => [keyOf(7)] });
  await watch.begin();
  world.hear(flowTo(addressOf(4711)), 5);
  world.nowMs += 1000;
  await watch.tick('service', 10);
  assert.deepEqual(world.asked.at(-1), [keyOf(4711), keyOf(7)]);
});

it('keeps the Services that it knows while the agent has no others', async () => {
  const world = new World(5000);
  const watch = world.watch();
  await watch.begin();
  const tickAfter = async (ms: number) => {
    world.nowMs += ms;
    world.hear(flowTo(addressOf(4711)), 5);
    return await watch.tick('service', 10);
  };
  await tickAfter(31_000);
  assert.deepEqual([world.servedReads, world.lastVersion], [2, 'first']);
  // Flows before the next tick are counted by what was known when the last one began.
  await tickAfter(1_000);
  world.asked.length = 0;
  const unchanged = await tickAfter(1_000);
  assert.deepEqual(world.asked, [[keyOf(4711)]]);
  assert.equal(unchanged.totals.knownServices, 5000);
  world.version = 'second';
  await tickAfter(31_000);
  await tickAfter(31_000);
  assert.equal(world.lastVersion, 'second');
});

it('asks for all Services every 30 s, and before only if there are new ones', async () => {
  const world = new World(5);
  const watch = world.watch();
  await watch.begin();
  const ticks = async (count: number): Promise<void> => {
    for (let each = 0; each < count; each++) {
      world.nowMs += 1000;
      await watch.tick('service', 10);
    }
  };
  await ticks(20);
  assert.equal(world.servedReads, 1);
  watch.expectNewServices();
  await ticks(5);
  assert.equal(world.servedReads, 2);
  await ticks(31);
  assert.equal(world.servedReads, 3);
});
