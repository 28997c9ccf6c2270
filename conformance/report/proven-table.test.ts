import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import type { ScenarioResult } from '../runner/run-scenario.ts';
import { provenMarkdown, readResults } from './proven-table.ts';

function result(scenario: string, proven: number, of: Partial<ScenarioResult> = {}) {
  const notProven = proven < 4 ? { 'an affinity entry': 4 - proven } : {};
  const explained = { predicted: 4, proven, provenFirst: 1, notProven };
  const common = { proxy: 'fairlead-nftables', result: 'pass', reason: '', milliseconds: 1 };
  return { scenario, explained, ...common, ...of } as ScenarioResult;
}

it('adds up what each proxy was asked, with the reasons of what is not proven', () => {
  const other = { proxy: 'fairlead-ipvs', result: 'fail' } as const;
  const results = [result('a', 4), result('b', 3), result('a', 4, other)];
  assert.deepEqual(provenMarkdown(results).split('\n').slice(2), [
    '| fairlead-nftables | 2 | 0 | 8 | 7 | 2 | 1: an affinity entry |',
    '| fairlead-ipvs | 1 | 1 | 4 | 4 | 1 | - |',
  ]);
});

it('leaves out a proxy that was not asked', () => {
  const { explained: _, ...rest } = result('a', 4);
  assert.equal(provenMarkdown([rest as ScenarioResult]).split('\n').length, 2);
});

it('takes the last result of a scenario that ran again', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-proven-'));
  t.after(() => rm(folder, { recursive: true }));
  const [first, second] = [join(folder, '1'), join(folder, '2')];
  await writeFile(first, JSON.stringify([result('a', 3), result('b', 4)]));
  await writeFile(second, JSON.stringify([result('a', 4)]));
  const read = await readResults([first, second]);
  assert.deepEqual(
    read.map(({ scenario, explained }) => [scenario, explained?.proven]),
    [
      ['a', 4],
      ['b', 4],
    ],
  );
});
