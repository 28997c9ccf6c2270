import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import type { Command } from 'commander';
import { configCommand } from './config.ts';
import { explainCommand } from './explain-command.ts';
import { runProgram } from './program.ts';
import { servicesCommand } from './services.ts';

const COLUMNS = 80;
const NAME = `web-${'x'.repeat(55)}-end`;
const CLUSTER_IP = 'fd00:1111:2222:3333:4444:5555:6666:7777';
const ENDPOINT = 'fd00:aaaa:bbbb:cccc:dddd:eeee:ffff:9999';
const NODE = `node-${'y'.repeat(58)}`;

/** The longest names that an API server accepts, and the longest addresses. */
const OBJECTS = [
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: NAME, namespace: `shop-${'z'.repeat(58)}` },
    spec: {
      type: 'NodePort',
      clusterIP: CLUSTER_IP,
      clusterIPs: [CLUSTER_IP],
      ipFamilies: ['IPv6'],
      sessionAffinity: 'ClientIP',
      ports: [
        {
          name: 'p'.repeat(63),
          port: 65_535,
          protocol: 'TCP',
          targetPort: 65_534,
          nodePort: 32_767,
        },
      ],
    },
  },
  {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `${NAME}-1`,
      namespace: `shop-${'z'.repeat(58)}`,
      labels: { 'kubernetes.io/service-name': NAME },
    },
    addressType: 'IPv6',
    ports: [{ name: 'p'.repeat(63), port: 65_534, protocol: 'TCP' }],
    endpoints: [{ addresses: [ENDPOINT], nodeName: NODE, conditions: { ready: true } }],
  },
];

async function shown(t: TestContext, command: Command, args: readonly string[]): Promise<string> {
  const out: string[] = [];
  const log = t.mock.method(console, 'log', (text: string) => void out.push(text));
  const error = t.mock.method(console, 'error', () => undefined);
  const before = { isTTY: process.stdout.isTTY, columns: process.stdout.columns };
  Object.assign(process.stdout, { isTTY: true, columns: COLUMNS });
  try {
    await runProgram(async () => [command], [command.name(), ...args]);
  } finally {
    Object.assign(process.stdout, before);
    for (const { mock } of [log, error]) mock.restore();
    process.exitCode = undefined;
  }
  return stripVTControlCharacters(out.join('\n'));
}

describe('on a terminal of 80 columns', () => {
  const cases: Record<string, readonly [make: () => Command, args: readonly string[]]> = {
    'services fits': [servicesCommand, ['--node', NODE]],
    'services -o wide fits, and is complete': [servicesCommand, ['--node', NODE, '-o', 'wide']],
    'explain fits, and is complete': [
      explainCommand,
      ['--node', NODE, `shop-${'z'.repeat(58)}/${NAME}`, '--from', ENDPOINT, '--at', 'cluster-ip'],
    ],
  };
  for (const [name, [make, args]] of Object.entries(cases)) {
    it(name, async (t) => {
      const folder = await mkdtemp(join(tmpdir(), 'fairlead-narrow-'));
      t.after(() => rm(folder, { recursive: true }));
      const file = join(folder, 'objects.yaml');
      await writeFile(file, OBJECTS.map((object) => JSON.stringify(object)).join('\n---\n'));
      const text = await shown(t, make(), [...args, ...['-f', file]]);
      assert.ok(text.length > COLUMNS, text);
      assert.deepEqual(
        text.split('\n').filter((line) => line.length > COLUMNS),
        [],
      );
      const letters = text.replaceAll(/\s/g, '');
      for (const word of name.includes('complete') ? ['65535', '65534'] : [])
        assert.ok(letters.includes(word));
    });
  }

  it('config fits', async (t) => {
    const text = await shown(t, configCommand(), ['--hostname-override', NODE]);
    assert.match(text, /^FIELD /);
    assert.deepEqual(
      text.split('\n').filter((line) => line.length > COLUMNS),
      [],
    );
  });
});
