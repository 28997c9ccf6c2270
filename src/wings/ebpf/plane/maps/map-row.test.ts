import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Endpoint, Forwarding, Frontend, Outcome } from '../../../../forwarding/model.ts';
import {
  bytesOf,
  FRONTEND,
  FRONTEND_KEY,
  MOST_ENDPOINTS,
  OutcomeFlag,
  readAddress,
  readOutcome,
  tagOf,
  writeAddress,
  writeOutcome,
} from './layout.ts';
import { frontendKeyOf, frontendValueOf, sequenceOf, servedFrontends } from './map-row.ts';

const CLUSTER: Outcome = { action: 'forward', list: 'cluster', masquerade: false };
const LOCAL: Outcome = { action: 'forward', list: 'local', masquerade: false };
const MASQUERADED: Outcome = { action: 'forward', list: 'cluster', masquerade: true };

function endpoint(number: number): Endpoint {
  return { address: `10.244.0.${number}`, port: 8080, local: true };
}

function frontend(more: Partial<Frontend> = {}): Frontend {
  return {
    kind: 'cluster-ip',
    address: '10.96.0.10',
    port: 80,
    outcomes: { pod: CLUSTER, host: MASQUERADED, outside: LOCAL },
    ...more,
  };
}

function row(more: Partial<Forwarding> = {}): Forwarding {
  return {
    id: { namespace: 'ns', service: 'web', port: '', protocol: 'TCP', family: 'IPv4' },
    frontends: [frontend()],
    clusterEndpoints: [endpoint(1), endpoint(2), endpoint(3)],
    localEndpoints: [endpoint(3), endpoint(4)],
    affinitySeconds: 0,
    ...more,
  };
}

function wordsOf(row: Forwarding, first: number): { list: string[]; flags: number }[] {
  const [served] = servedFrontends(row);
  assert.ok(served);
  const sequence = sequenceOf(row, servedFrontends(row), undefined);
  const key = frontendKeyOf(row, served);
  const value = frontendValueOf({ row: row, frontend: served, sequence, first });
  return [0, 8, 16].map((at) => {
    const word = readOutcome(value, FRONTEND.outcomes + at);
    assert.equal(word.tag, tagOf(new Int32Array(Uint8Array.from(key).buffer)));
    const from = word.first - first;
    const list = word.count === 0 ? [] : sequence.endpoints.slice(from, from + word.count);
    return { list: list.map(({ address }) => address).sort(), flags: word.flags };
  });
}

test('stores both lists as ranges of one sequence, though neither contains the other', () => {
  assert.deepEqual(wordsOf(row(), 100), [
    { list: ['10.244.0.1', '10.244.0.2', '10.244.0.3'], flags: 0 },
    { list: ['10.244.0.1', '10.244.0.2', '10.244.0.3'], flags: OutcomeFlag.masquerade },
    { list: ['10.244.0.3', '10.244.0.4'], flags: 0 },
  ]);
  assert.equal(sequenceOf(row(), row().frontends, undefined).endpoints.length, 4);
});

test('encodes in each word the list that its outcome names', () => {
  const numbers = fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { maxLength: 6 });
  fc.assert(
    fc.property(numbers, numbers, (cluster, local) => {
      const [pod, , outside] = wordsOf(
        row({
          clusterEndpoints: cluster.map(endpoint),
          localEndpoints: local.map(endpoint),
        }),
        7,
      );
      const addresses = (list: number[]) => list.map((n) => `10.244.0.${n}`).sort();
      assert.deepEqual(pod?.list, addresses(cluster));
      assert.deepEqual(outside?.list, addresses(local));
    }),
  );
});

test('allocates no slots for a list that no outcome names', () => {
  const outcomes = { pod: CLUSTER, host: CLUSTER, outside: { action: 'drop' } } as const;
  const only = row({ frontends: [frontend({ outcomes })] });
  assert.equal(sequenceOf(only, only.frontends, undefined).endpoints.length, 3);
  assert.equal(wordsOf(only, 0)[2]?.flags, OutcomeFlag.drop);
});

test('sets source ranges and affinity as flags of every class', () => {
  const of = row({
    affinitySeconds: 90,
    frontends: [frontend({ allowedSources: ['192.0.2.0/24'] })],
  });
  const both = OutcomeFlag.affinity | OutcomeFlag.ranges;
  assert.deepEqual(
    wordsOf(of, 0).map(({ flags }) => flags & both),
    [both, both, both],
  );
});

test('leaves out frontends that another Service owns and those without hooks', () => {
  const lost = row({
    frontends: [frontend({ notServed: { reason: 'other-service', service: 'ns/older' } })],
  });
  const sctp = row({ id: { ...row().id, protocol: 'SCTP' } });
  assert.deepEqual([servedFrontends(lost), servedFrontends(sctp)], [[], []]);
});

test('stores a node port under the unspecified address of its family', () => {
  const nodePort = frontend({ kind: 'node-port', address: '', port: 30080 });
  const key = frontendKeyOf(row(), nodePort);
  assert.equal(readAddress(key, FRONTEND_KEY.address), '0.0.0.0');
  assert.equal(key.readUInt16BE(FRONTEND_KEY.port), 30080);
  const of6 = row({ id: { ...row().id, family: 'IPv6' } });
  assert.equal(readAddress(frontendKeyOf(of6, nodePort), FRONTEND_KEY.address), '::');
});

test('decodes an outcome as it was encoded', () => {
  const word = fc.record(
    {
      first: fc.integer({ min: 0, max: 2 ** 28 - 1 }),
      count: fc.integer({ min: 0, max: 2 ** 20 - 1 }),
      flags: fc.integer({ min: 0, max: 255 }),
      tag: fc.integer({ min: 0, max: 255 }),
    },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(word, (written) => {
      const words = new Int32Array(2);
      writeOutcome(words, 0, written);
      const bytes = bytesOf(words);
      assert.deepEqual(readOutcome(bytes, 0), written);
      const asOne = bytes.readBigUInt64LE(0);
      assert.equal(Number((asOne >> 28n) & 0xfffffn), written.count);
    }),
  );
});

test('decodes an address as it was encoded', () => {
  for (const text of ['10.96.0.10', '255.255.255.255', '0.0.0.0', '::', 'fd00:96::a']) {
    const words = new Int32Array(4).fill(-1);
    writeAddress(words, 0, text);
    assert.equal(readAddress(bytesOf(words), 0), text);
  }
});

test('leaves a row to the plane behind when an outcome cannot count its list', () => {
  const most = Array.from({ length: MOST_ENDPOINTS }, () => endpoint(1));
  const frontends = [frontend({ outcomes: { pod: CLUSTER, host: MASQUERADED, outside: LOCAL } })];
  const flagsOf = (row: Forwarding): number[] => {
    const sequence = sequenceOf(row, row.frontends, undefined);
    const value = frontendValueOf({
      row: row,
      frontend: frontends[0] as Frontend,
      sequence,
      first: 5,
    });
    const words = [0, 8, 16].map((at) => readOutcome(value, FRONTEND.outcomes + at));
    const isLong = sequence.isTooLong;
    assert.deepEqual(
      words.map(({ first, count }) => [first, count]),
      isLong
        ? [
            [0, 0],
            [0, 0],
            [0, 0],
          ]
        : [
            [5, most.length],
            [5, most.length],
            [0, 0],
          ],
    );
    return words.map(({ flags }) => flags & OutcomeFlag.pass);
  };
  const { pass } = OutcomeFlag;
  const none: Endpoint[] = [];
  assert.deepEqual(
    flagsOf(row({ frontends, clusterEndpoints: most, localEndpoints: none })),
    [0, 0, 0],
  );
  const more = [...most, endpoint(2)];
  assert.deepEqual(flagsOf(row({ frontends, clusterEndpoints: more, localEndpoints: none })), [
    pass,
    pass,
    pass,
  ]);
  assert.deepEqual(flagsOf(row({ frontends, clusterEndpoints: none, localEndpoints: more })), [
    pass,
    pass,
    pass,
  ]);
});
