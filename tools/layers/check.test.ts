import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { checkLayers } from './check.ts';
import { LAYERS } from './table.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('this project', () => {
  it('keeps to its own table', async () => {
    const { files, filesByLayer, violations } = await checkLayers(ROOT, LAYERS);
    assert.deepEqual(violations, []);
    assert.ok((filesByLayer.get('tools') ?? 0) > 5, 'it must see at least its own files');
    assert.equal(
      [...filesByLayer.values()].reduce((sum, count) => sum + count, 0),
      files,
    );
  });
});

describe('the table', () => {
  it('has a row for every layer that a row names', () => {
    const names = new Set(LAYERS.map(({ name }) => name));
    assert.equal(names.size, LAYERS.length);
    for (const { uses, typesFrom = [] } of LAYERS) {
      for (const used of [...uses, ...typesFrom]) assert.ok(names.has(used), used);
    }
  });

  it('has no cycles: no layer can reach itself through others', () => {
    const usesByName = new Map(
      LAYERS.map(({ name, uses, typesFrom = [] }) => [name, [...uses, ...typesFrom]]),
    );
    const visit = (name: string, above: readonly string[]): void => {
      assert.ok(!above.includes(name), [...above, name].join(' -> '));
      for (const used of usesByName.get(name) ?? []) visit(used, [...above, name]);
    };
    for (const { name } of LAYERS) visit(name, []);
  });
});

interface Planted {
  readonly fault: string;
  readonly file: string;
  readonly source: string;
  readonly row: string | undefined;
  readonly problem: RegExp;
}

const FAULTS: readonly Planted[] = [
  {
    fault: 'a layer below imports a layer above',
    file: 'src/linux/netlink.ts',
    source: "import { run } from '../agent/loop.ts';",
    row: 'linux',
    problem: /linux may not use agent/,
  },
  {
    fault: 'a type from a layer above counts as well',
    file: 'src/linux/netlink.ts',
    source: "import type { Row } from '../forwarding/model.ts';",
    row: 'linux',
    problem: /linux may not use forwarding/,
  },
  {
    fault: 'koffi outside src/linux',
    file: 'src/agent/loop.ts',
    source: "import koffi from 'koffi';",
    row: 'agent',
    problem: /may import these packages: none/,
  },
  {
    fault: 'koffi in the lab outside lab/host',
    file: 'lab/network/bridge.ts',
    source: "import koffi from 'koffi';",
    row: 'lab',
    problem: /lab may import these packages/,
  },
  {
    fault: 'processes in src outside src/linux',
    file: 'src/wings/iptables/plane/restore.ts',
    source: "import { spawn } from 'node:child_process';",
    row: 'plane of iptables',
    problem: /node:child_process starts processes/,
  },
  {
    fault: 'processes by the old name of the module',
    file: 'conformance/run.ts',
    source: "import { spawn } from 'child_process';",
    row: 'conformance',
    problem: /node:child_process starts processes/,
  },
  {
    fault: 'a module loader that hides imports',
    file: 'src/agent/loop.ts',
    source: "import { createRequire } from 'node:module';",
    row: 'agent',
    problem: /can load modules that no import names/,
  },
  {
    fault: 'a wing imports another wing',
    file: 'src/wings/userspace/plane/forwarder-plane.ts',
    source: "import { mark } from '../../iptables/plane/marks.ts';",
    row: 'plane of userspace',
    problem: /plane of userspace may not use plane of iptables/,
  },
  {
    fault: 'a wing uses the kernel access of another wing',
    file: 'src/wings/userspace/plane/forwarder-plane.ts',
    source: "import { exchange } from '../../../linux/ipvs/ipvs-exchange.ts';",
    row: 'plane of userspace',
    problem: /may not use linux of ipvs/,
  },
  {
    fault: 'the core knows a wing, by its type',
    file: 'src/commands/status-command.ts',
    source: "import type { Answers } from '../wings/userspace/plane/forwarder-protocol.ts';",
    row: 'commands',
    problem: /commands may not use plane of userspace/,
  },
  {
    fault: 'the core loads a wing beside the registry',
    file: 'src/commands/run.ts',
    source: "const { IPVS } = await import('../wings/ipvs/ipvs-mode.ts');",
    row: 'commands',
    problem: /commands may not use wing ipvs/,
  },
  {
    fault: 'the registry pays for a wing at every start',
    file: 'src/wings/wing-registry.ts',
    source: "import { IPVS } from './ipvs/ipvs-mode.ts';",
    row: 'wing registry',
    problem: /wing registry may not use wing ipvs/,
  },
  {
    fault: 'the contract imports a mode',
    file: 'src/dataplanes/contract.ts',
    source: "export type { Table } from './nftables/table.ts';",
    row: 'data-plane contract',
    problem: /data-plane contract may not use nftables/,
  },
  {
    fault: 'the conformance suite imports src',
    file: 'conformance/questions.ts',
    source: "import { loop } from '../src/agent/loop.ts';",
    row: 'conformance',
    problem: /conformance may not use agent/,
  },
  {
    fault: 'the lab imports the conformance suite',
    file: 'lab/cluster.ts',
    source: "import { ask } from '../conformance/ask.ts';",
    row: 'lab',
    problem: /lab may not use conformance/,
  },
  {
    fault: 'policy imports a value from cluster',
    file: 'src/forwarding/policy.ts',
    source: "import { connect } from '../cluster/api-connection.ts';",
    row: 'forwarding',
    problem: /may know the types of cluster, and nothing that runs/,
  },
  {
    fault: 'policy imports types one by one, which loads the module',
    file: 'src/forwarding/policy.ts',
    source: "import { type Service } from '../cluster/objects.ts';",
    row: 'forwarding',
    problem: /nothing that runs/,
  },
  {
    fault: 'policy reads a file',
    file: 'src/forwarding/policy.ts',
    source: "import { readFile } from 'node:fs/promises';",
    row: 'forwarding',
    problem: /forwarding may import these modules of Node: none/,
  },
  {
    fault: 'a test of policy reads a file',
    file: 'src/forwarding/policy.test.ts',
    source: "import { readFile } from 'node:fs/promises';",
    row: 'forwarding',
    problem: /forwarding may import these modules of Node: none/,
  },
  {
    fault: 'a package for tests in what ships',
    file: 'src/forwarding/policy.ts',
    source: "import fc from 'fast-check';",
    row: 'forwarding',
    problem: /may import these packages: none/,
  },
  {
    fault: 'an import whose module is known only at run time',
    file: 'src/commands/run.ts',
    source: 'const mode = await import(`../dataplanes/${name}/plane.ts`);',
    row: 'commands',
    problem: /only known when it runs/,
  },
  {
    fault: 'a path through the root of the machine',
    file: 'src/commands/run.ts',
    source: "import x from '/opt/x.ts';",
    row: 'commands',
    problem: /neither a relative path/,
  },
  {
    fault: 'an import from outside every layer',
    file: 'src/commands/run.ts',
    source: "import x from '../../../elsewhere/x.ts';",
    row: 'commands',
    problem: /is in no layer/,
  },
  {
    fault: 'a layer that the table does not have',
    file: 'src/helpers/strings.ts',
    source: 'export const a = 1;',
    row: undefined,
    problem: /it is in no layer/,
  },
  {
    fault: 'a file beside the layers',
    file: 'scripts/release.mjs',
    source: 'console.log(1);',
    row: undefined,
    problem: /it is in no layer/,
  },
];

describe('a planted fault is found', () => {
  for (const { fault, file, source, row, problem } of FAULTS) {
    it(fault, async (t) => {
      const root = await plant(t.after.bind(t), { [file]: `// first line\n${source}\n` });
      const { violations } = await checkLayers(root, LAYERS);
      assert.equal(violations.length, 1);
      const [violation] = violations;
      assert.equal(violation?.file, file);
      assert.equal(violation?.line, row === undefined ? 1 : 2);
      assert.equal(violation?.row, row);
      assert.match(violation?.problem ?? '', problem);
      assert.notEqual(violation?.remedy, '');
    });
  }
});

it('accepts what the table allows', async (t) => {
  const root = await plant(t.after.bind(t), {
    'src/main.ts': "import { run } from './commands/run.ts';\nimport { Command } from 'commander';",
    'src/commands/run.ts': "import { Plane } from '../dataplanes/nftables/nftables-plane.ts';",
    'src/dataplanes/nftables/nftables-plane.ts':
      "import type { DataPlane } from '../contract.ts';\nimport { send } from '../../linux/netlink.ts';\nimport './table.ts';",
    'src/dataplanes/nftables/table.ts': "import { Buffer } from 'node:buffer';",
    'src/dataplanes/contract.ts': "import type { Row } from '../forwarding/model.ts';",
    'src/linux/netlink.ts':
      "import koffi from 'koffi';\nimport { spawn } from 'node:child_process';",
    'src/forwarding/model.ts': "import type { Service } from '../cluster/objects.ts';",
    'src/forwarding/model.test.ts':
      "import fc from 'fast-check';\nimport { test } from 'node:test';\nimport assert from 'node:assert/strict';",
    'src/addresses/ip.ts': "import { isIPv4 } from 'node:net';",
    'lab/main.ts': "import { stringify } from 'yaml';\nimport { run } from './host/run.ts';",
    'lab/host/run.ts': "import { spawn } from 'node:child_process';\nimport koffi from 'koffi';",
    'conformance/main.ts': "import { lab } from '../lab/main.ts';",
    'node_modules/other/index.js': "import koffi from 'koffi';",
  });
  const { violations, files } = await checkLayers(root, LAYERS);
  assert.deepEqual(violations, []);
  assert.equal(files, 12);
});

it('reports 0 files when it reads none', async (t) => {
  const { files } = await checkLayers(await plant(t.after.bind(t), {}), LAYERS);
  assert.equal(files, 0);
});

async function plant(
  after: (cleanup: () => Promise<void>) => void,
  sources: Readonly<Record<string, string>>,
): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'fairlead-layers-'));
  after(() => rm(root, { recursive: true }));
  for (const [file, source] of Object.entries(sources)) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), source);
  }
  return root;
}
