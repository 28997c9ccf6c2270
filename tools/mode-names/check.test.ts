import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { it } from 'node:test';
import { checkModeNames, namedModes } from './check.ts';
import { MODE_NAMES, NAMED_IN } from './table.ts';

const ROOT = join(import.meta.dirname, '../..');

it('finds no mode named outside of the table in this project', async () => {
  const of = { modes: MODE_NAMES, namedIn: NAMED_IN };
  const { fileCount, violations, unused } = await checkModeNames(ROOT, of);
  assert.deepEqual({ violations, unused }, { violations: [], unused: [] });
  assert.ok(fileCount > 500);
});

it('knows the modes that the configuration knows', async () => {
  const source = await readFile(join(ROOT, 'src/config/modes.ts'), 'utf8');
  const table = source.slice(
    source.indexOf('const TRAITS = {'),
    source.indexOf('} as const satisfies'),
  );
  const names = [...table.matchAll(/^ {2}'?([a-z-]+)'?: \{/gm)].map(([, name]) => name);
  assert.deepEqual(names.sort(), [...MODE_NAMES].sort());
});

it('finds a mode, and a proxy that is named by its mode', () => {
  const find = (source: string) => namedModes(source, MODE_NAMES).modes;
  assert.deepEqual(find("if (mode === 'tc-ebpf') f('nftables');"), ['nftables', 'tc-ebpf']);
  assert.deepEqual(find('[\'upstream-iptables-legacy\', "fairlead-socket-ebpf"]'), [
    'iptables',
    'socket-ebpf',
  ]);
  assert.deepEqual(find("mode.endsWith('-ebpf')"), ['-ebpf']);
  assert.deepEqual(find("import x from './nftables/plane.ts'; // 'nftables'\n`ip nftables`"), []);
});

it('reports a file that may not name one, and a row that allows nothing', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'fairlead-mode-names-'));
  t.after(() => rm(root, { recursive: true }));
  const files = {
    'src/agent/agent.ts': "\nexport const isIt = (mode: string) => mode === 'tc-ebpf';",
    'src/agent/agent.test.ts': "const mode = 'tc-ebpf';",
    'src/modes/tc-ebpf.ts': "export const name = 'tc-ebpf';",
  };
  for (const [file, source] of Object.entries(files)) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    await writeFile(join(root, file), source);
  }
  const namedIn = { 'src/modes/': 'values', 'src/gone.ts': 'nothing' };
  const { violations, unused } = await checkModeNames(root, { modes: MODE_NAMES, namedIn });
  assert.deepEqual(violations, [{ file: 'src/agent/agent.ts', line: 2, modes: ['tc-ebpf'] }]);
  assert.deepEqual(unused, ['src/gone.ts']);
});
