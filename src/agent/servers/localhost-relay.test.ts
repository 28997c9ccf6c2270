import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';
import type { Family, Forwarding, Outcome } from '../../forwarding/model.ts';
import { servicePortKey } from '../../forwarding/model.ts';
import { until } from '../../time/testing/until.ts';
import { LocalhostRelay } from './localhost-relay.ts';
import { RelaySlots } from './relay-connection.ts';
import type { ServerError } from './server-error.ts';
import { freePort } from './testing/free-port.ts';

const FORWARD: Outcome = { action: 'forward', list: 'cluster', masquerade: true };
const LOCAL: Outcome = { action: 'forward', list: 'local', masquerade: false };
const DROP: Outcome = { action: 'drop' };

interface Recipe {
  readonly name?: string;
  readonly nodePort: number;
  readonly endpoints?: readonly number[];
  readonly localEndpoints?: readonly number[];
  readonly outside?: Outcome;
  readonly family?: Family;
  readonly protocol?: 'TCP' | 'UDP';
  readonly notServed?: true;
}

function row(recipe: Recipe): Forwarding {
  const { name = 'web', family = 'IPv4', protocol = 'TCP', outside = FORWARD } = recipe;
  const address = family === 'IPv4' ? '127.0.0.1' : '::1';
  const endpoints = (ports: readonly number[] = []) =>
    ports.map((port) => ({ address, port, local: true }));
  return {
    id: { namespace: 'default', service: name, port: '', protocol, family },
    frontends: [
      {
        kind: 'node-port',
        address: '',
        port: recipe.nodePort,
        outcomes: { pod: outside, host: FORWARD, outside },
        ...(recipe.notServed ? { notServed: { reason: 'other-service', service: 'x/y' } } : {}),
      },
    ],
    clusterEndpoints: endpoints(recipe.endpoints),
    localEndpoints: endpoints(recipe.localEndpoints),
    affinitySeconds: 0,
  };
}

interface Stage {
  readonly relay: LocalhostRelay;
  readonly failures: ServerError[];
  put(after: Forwarding, before?: Forwarding): void;
}

interface StageOptions {
  readonly families?: readonly Family[];
  readonly rows?: readonly Forwarding[];
  readonly slots?: number;
}

function stage(t: TestContext, options: StageOptions = {}): Stage {
  const { families = ['IPv4', 'IPv6'], rows = [], slots = 100 } = options;
  const failures: ServerError[] = [];
  const relay = new LocalhostRelay({
    facts: () => ({ relayedLocalhost: families }),
    rows: () => rows,
    slots: new RelaySlots(slots),
    monotonicMs: () => 0,
    onListenFailure: (error) => failures.push(error),
    onProblem: assert.ifError,
    retryAfterMs: () => 2,
  });
  t.after(() => relay.close());
  relay.onFirstSync();
  const put = (after: Forwarding, before?: Forwarding): void =>
    relay.onAcknowledged({ changes: [{ key: servicePortKey(after.id), before, after }] });
  return { relay, failures, put };
}

/** Sends its name and what it received, once the client has closed its side. */
async function endpoint(t: TestContext, name: string, host = '127.0.0.1'): Promise<number> {
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    text(socket).then((heard) => socket.end(`${name} heard ${heard}`), assert.ifError);
  });
  await once(server.listen(0, host), 'listening');
  t.after(() => server.close());
  return (server.address() as net.AddressInfo).port;
}

/** Undefined: the connection was rejected or closed without a word. */
async function say(words: string, port: number, host = '127.0.0.1'): Promise<string | undefined> {
  const socket = net.connect({ port, host, allowHalfOpen: true });
  socket.end(words);
  const answer = await text(socket).catch(() => '');
  return answer === '' ? undefined : answer;
}

async function hears(expected: string | undefined, port: number, host?: string): Promise<void> {
  await until(`${expected ?? 'nothing'} from port ${port}`, async () => {
    return (await say('hello', port, host)) === expected;
  });
}

describe('node ports on loopback', () => {
  it('relays bytes, and the end of each direction', async (t) => {
    const port = await freePort();
    stage(t, { rows: [row({ nodePort: port, endpoints: [await endpoint(t, 'a')] })] });
    await hears('a heard hello', port);
    const large = 'x'.repeat(3_000_000);
    assert.equal(await say(large, port), `a heard ${large}`);
    await hears(undefined, port, '::1');
  });

  it('relays data of a client after the endpoint has closed its side', async (t) => {
    const heard = Promise.withResolvers<string>();
    const server = net.createServer({ allowHalfOpen: true }, (socket) => {
      socket.end('go on');
      text(socket).then(heard.resolve, heard.reject);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    t.after(() => server.close());
    const port = await freePort();
    const { port: target } = server.address() as net.AddressInfo;
    const { relay } = stage(t, { rows: [row({ nodePort: port, endpoints: [target] })] });
    await until('a listener', () => relay.counts().listeners.IPv4 === 1);
    const client = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    assert.equal(await text(client), 'go on');
    client.end('x'.repeat(3_000_000));
    assert.equal((await heard.promise).length, 3_000_000);
  });

  it('serves an IPv6 row on ::1 and nowhere else', async (t) => {
    const port = await freePort();
    const of6 = { nodePort: port, family: 'IPv6', endpoints: [await endpoint(t, 'six', '::1')] };
    stage(t, { rows: [row(of6 as Recipe)] });
    await hears('six heard hello', port, '::1');
    await hears(undefined, port);
  });

  it('follows endpoints, and rejects when there are none', async (t) => {
    const port = await freePort();
    const [a, b] = [await endpoint(t, 'a'), await endpoint(t, 'b')];
    const first = row({ nodePort: port, endpoints: [a] });
    const { put, relay } = stage(t, { rows: [first] });
    await hears('a heard hello', port);
    const second = row({ nodePort: port, endpoints: [b] });
    put(second, first);
    await hears('b heard hello', port);
    assert.deepEqual(relay.counts().listeners, { IPv4: 1, IPv6: 0 });
    const none = row({ nodePort: port, outside: DROP });
    put(none, second);
    await hears(undefined, port);
    assert.deepEqual(relay.counts().listeners, { IPv4: 0, IPv6: 0 });
    put(first, none);
    await hears('a heard hello', port);
  });

  it('uses local endpoints where outside clients get those', async (t) => {
    const port = await freePort();
    const [here, elsewhere] = [await endpoint(t, 'here'), await endpoint(t, 'elsewhere')];
    const local = {
      nodePort: port,
      endpoints: [elsewhere],
      localEndpoints: [here],
      outside: LOCAL,
    };
    stage(t, { rows: [row(local)] });
    await hears('here heard hello', port);
  });

  it('opens nothing for UDP, for a port of another Service, and for another family', async (t) => {
    const a = await endpoint(t, 'a');
    const rows = [
      row({ nodePort: await freePort(), endpoints: [a], protocol: 'UDP' }),
      row({ nodePort: await freePort(), endpoints: [a], notServed: true }),
      row({ nodePort: await freePort(), endpoints: [a], family: 'IPv6' }),
    ];
    const served = await freePort();
    const { relay } = stage(t, {
      families: ['IPv4'],
      rows: [...rows, row({ name: 'served', nodePort: served, endpoints: [a] })],
    });
    await hears('a heard hello', served);
    assert.deepEqual(relay.counts().listeners, { IPv4: 1, IPv6: 0 });
  });

  it('hands a port over, whichever of the two rows changes first', async (t) => {
    const port = await freePort();
    const [a, b] = [await endpoint(t, 'a'), await endpoint(t, 'b')];
    const old = row({ name: 'old', nodePort: port, endpoints: [a] });
    const { relay } = stage(t, { rows: [old] });
    await hears('a heard hello', port);
    const next = row({ name: 'next', nodePort: port, endpoints: [b] });
    relay.onAcknowledged({
      changes: [
        { key: servicePortKey(next.id), before: undefined, after: next },
        { key: servicePortKey(old.id), before: old, after: undefined },
      ],
    });
    await hears('b heard hello', port);
  });

  it('closes the port of a row whose change or removal does not name what it was', async (t) => {
    const [one, other] = [await freePort(), await freePort()];
    const a = await endpoint(t, 'a');
    const before = row({ nodePort: one, endpoints: [a] });
    const { relay } = stage(t, { rows: [before] });
    const key = servicePortKey(before.id);
    await hears('a heard hello', one);
    const after = row({ nodePort: other, endpoints: [a] });
    relay.onAcknowledged({ changes: [{ key, before: undefined, after }] });
    await hears('a heard hello', other);
    await hears(undefined, one);
    relay.onAcknowledged({ changes: [{ key, before: undefined, after: undefined }] });
    await hears(undefined, other);
    assert.equal(relay.counts().listeners.IPv4, 0);
  });

  it('follows the configuration while it runs', async (t) => {
    const port = await freePort();
    const a = await endpoint(t, 'a');
    const { relay } = stage(t, { families: [], rows: [row({ nodePort: port, endpoints: [a] })] });
    await hears(undefined, port);
    relay.onConfigured({ relayedLocalhost: ['IPv4'] });
    await hears('a heard hello', port);
    relay.onConfigured({});
    await hears(undefined, port);
  });

  it('leaves a port to the process that has it, reports it once, and binds it when it is free', async (t) => {
    const holder = net.createServer((socket) => socket.end('mine'));
    await once(holder.listen(0, '127.0.0.1'), 'listening');
    const { port } = holder.address() as net.AddressInfo;
    const a = await endpoint(t, 'a');
    const { relay, failures } = stage(t, { rows: [row({ nodePort: port, endpoints: [a] })] });
    await until('three failures', () => relay.counts().listenFailures.IPv4 >= 3);
    assert.equal(await say('hello', port), 'mine');
    assert.equal(failures.length, 1);
    assert.match(failures[0]?.message ?? '', /node port of default\/web\): EADDRINUSE/);
    holder.close();
    await hears('a heard hello', port);
  });

  it('closes connections beyond the limit and keeps those that are there', async (t) => {
    const port = await freePort();
    stage(t, { slots: 1, rows: [row({ nodePort: port, endpoints: [await endpoint(t, 'a')] })] });
    await hears('a heard hello', port);
    const first = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    first.write('one');
    await until('a closed newcomer', async () => (await say('two', port)) === undefined);
    first.end();
    assert.equal(await text(first), 'a heard one');
    await hears('a heard hello', port);
  });

  it('closes connections when the port is released, and when an endpoint cannot be reached', async (t) => {
    const port = await freePort();
    const { relay, put } = stage(t);
    const first = row({ nodePort: port, endpoints: [await endpoint(t, 'a')] });
    put(first);
    await hears('a heard hello', port);
    const client = net.connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    client.write('one');
    await once(client, 'connect');
    relay.close();
    assert.equal(await text(client).catch(() => ''), '');

    const other = await freePort();
    const broken = stage(t, { rows: [row({ nodePort: other, endpoints: [await freePort()] })] });
    await until('a listener', () => broken.relay.counts().listeners.IPv4 === 1);
    assert.equal(await say('hello', other), undefined);
  });
});
