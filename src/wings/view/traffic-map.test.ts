import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ServedPort } from '../../agent/servers/traffic-pages.ts';
import type { SourceClass } from '../../forwarding/model.ts';
import { addressBytes } from '../../linux/conntrack/address-bytes.ts';
import type { Flow } from '../../linux/conntrack/flow.ts';
import { EndpointRates } from '../top/endpoint-rates.ts';
import { ownersOf } from '../top/served-owners.ts';
import { Tally } from '../top/tally.ts';
import { type Gathered, serviceRows } from '../top/traffic-rows.ts';
import { EndsOfFlows } from './ends.ts';
import type { Place } from './service-rows.ts';
import { trafficMap } from './traffic-map.ts';

const bytes = (text: string): string => addressBytes(text) ?? '';
const key = (number: number): string => `shop/s${number}:http/TCP/IPv4`;
const address = (number: number): string => `10.96.0.${number}`;

function flow(client: string, service: number): Flow {
  const [from, to] = [bytes(client), bytes(address(service))];
  return {
    version: 4,
    protocol: 6,
    original: { source: from, sourcePort: 4000, destination: to, destinationPort: 80 },
    reply: { source: bytes('10.1.0.1'), sourcePort: 80, destination: from, destinationPort: 4000 },
    ...{ status: 0, id: 1, zone: 0, mark: 0, timeoutSeconds: 9, tcpState: 3 },
  };
}

interface Scene {
  /** New connections of each Service in two seconds, by its endpoint `node/address`. */
  readonly counts: readonly (readonly [service: number, endpoint: string, count: number])[];
  readonly flows?: readonly Flow[];
  readonly isComplete?: boolean;
  readonly unseenSources?: readonly SourceClass[];
  readonly rejected?: ReadonlyMap<number, number>;
  readonly places?: Readonly<Record<string, Place>>;
}

function mapOf(scene: Scene) {
  const { counts, flows = [], isComplete = true, unseenSources = [], rejected } = scene;
  const numbers = [...new Set(counts.map(([service]) => service))];
  const ports = numbers.map((each): ServedPort => [key(each), [[address(each), 80]]]);
  const heard = new Tally(ownersOf(ports));
  for (const each of flows) heard.add(each);
  const rates = new EndpointRates();
  const reading = (isLater: boolean) => ({
    counts: counts.map(([service, endpoint, count]) => ({
      service: key(service),
      endpoint,
      connections: isLater ? count : 0,
      bytes: 0,
    })),
    empty: [],
    leftOut: [],
  });
  rates.take(reading(false), 0);
  rates.take(reading(true), 2000);
  const gathered: Gathered = {
    keys: numbers.map(key),
    seconds: 2,
    heard,
    isComplete,
    seesAll: unseenSources.length === 0,
    unseenSources,
    hearsClients: true,
    live: undefined,
    rejected:
      rejected &&
      new Map(
        [...rejected].map(([service, rejectedPerSecond]) => [
          key(service),
          { rejectedPerSecond, droppedPerSecond: 0, rejected: 0, dropped: 0 },
        ]),
      ),
    rates,
    classOf: (client) => (client.startsWith('10.1.') ? 'pod' : 'outside'),
  };
  const placeOf = (_: string, endpoint: string) => scene.places?.[endpoint];
  const ends = new EndsOfFlows({ placeOf });
  return trafficMap({ gathered, rows: serviceRows(gathered), known: 50, unseenSources, ends });
}

const HERE = { nodeName: 'node1', isHere: true };
const on = (nodeName: string): Place => ({ nodeName, isHere: false });

describe('the map', () => {
  it('leads from who asks through the Service to where it ends', () => {
    const map = mapOf({
      counts: [
        [1, 'a:80', 6],
        [1, 'b:80', 2],
      ],
      flows: [flow('10.1.0.9', 1), flow('10.1.0.9', 1), flow('192.0.2.1', 1)],
      places: { 'a:80': HERE, 'b:80': on('node2') },
      rejected: new Map(),
    });
    assert.deepEqual(map.services, [
      {
        service: 'shop/s1:http',
        protocol: 'TCP',
        family: 'IPv4',
        endpoints: 2,
        newPerSecond: 4,
        rejectedPerSecond: 0,
        droppedPerSecond: 0,
        from: { pod: 1, host: 0, outside: 0.5 },
        ends: [
          ['here', 3],
          ['node:node2', 1],
        ],
      },
    ]);
    assert.deepEqual(map.ends, [
      { id: 'here', kind: 'here', perSecond: 3, endpoints: 1 },
      { id: 'node:node2', kind: 'node', name: 'node2', perSecond: 1, endpoints: 1 },
      { id: 'rejected', kind: 'rejected', perSecond: 0 },
      { id: 'dropped', kind: 'dropped', perSecond: 0 },
    ]);
    assert.deepEqual(map.sources, { pod: 1, host: 0, outside: 0.5 });
  });

  it('shows the ten busiest, and all others as one', () => {
    const numbers = Array.from({ length: 12 }, (_, index) => index + 1);
    const map = mapOf({
      counts: numbers.map((each) => [each, 'a:80', each * 2] as const),
      flows: [flow('10.1.0.9', 1), flow('10.1.0.9', 12)],
      places: { 'a:80': HERE },
    });
    assert.deepEqual(
      map.services.map(({ newPerSecond }) => newPerSecond),
      [12, 11, 10, 9, 8, 7, 6, 5, 4, 3],
    );
    assert.deepEqual(map.others, {
      ports: 40,
      newPerSecond: 3,
      from: { pod: 0.5, host: 0, outside: 0 },
      ends: [['here', 3]],
    });
  });

  it('has no figure for sources that conntrack does not see, and none at all of a sample', () => {
    const scene: Scene = { counts: [[1, 'a:80', 2]], flows: [flow('192.0.2.1', 1)] };
    const unseen = mapOf({ ...scene, unseenSources: ['pod', 'host'] });
    assert.deepEqual(unseen.sources, { outside: 0.5 });
    const silent = mapOf({ counts: [[1, 'a:80', 2]], unseenSources: ['host'] });
    assert.deepEqual([silent.sources, silent.services[0]?.from], [{}, {}]);
    const sampled = mapOf({ ...scene, isComplete: false });
    assert.deepEqual(sampled.sources, {});
    assert.equal(sampled.services[0]?.from, undefined);
  });

  it('has no figure of all others that the mode cannot know', () => {
    const { others } = mapOf({ counts: [[1, 'a:80', 2]] });
    assert.deepEqual(others, { ports: 49, newPerSecond: 0, from: { pod: 0, host: 0, outside: 0 } });
  });

  it('has no ends where it does not know the node of an endpoint, or what is rejected', () => {
    const map = mapOf({ counts: [[1, 'a:80', 2]], places: {} });
    assert.equal(map.services[0]?.ends, undefined);
    assert.deepEqual(map.ends, [{ id: 'here', kind: 'here', perSecond: 0, endpoints: 0 }]);
  });

  it('keeps the busiest other nodes apart, in the order of their names', () => {
    const places = Object.fromEntries(
      ['f', 'e', 'd', 'c', 'b', 'a'].map((name) => [`${name}:80`, on(`node-${name}`)]),
    );
    const counts = ['a', 'b', 'c', 'd', 'e', 'f'].map(
      (name, index) => [1, `${name}:80`, 2 * (index + 1)] as const,
    );
    const { ends } = mapOf({ counts, places });
    assert.deepEqual(
      ends.map(({ id, perSecond }) => [id, perSecond]),
      [
        ['here', 0],
        ['node:node-c', 3],
        ['node:node-d', 4],
        ['node:node-e', 5],
        ['node:node-f', 6],
        ['others', 3],
      ],
    );
  });

  it('leads rejected connections to an end of their own', () => {
    const map = mapOf({ counts: [[1, 'a:80', 0]], rejected: new Map([[1, 9]]), places: {} });
    assert.deepEqual(map.services[0]?.ends, [['rejected', 9]]);
    assert.equal(map.ends.find(({ id }) => id === 'rejected')?.perSecond, 9);
  });
});
