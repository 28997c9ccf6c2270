import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Part } from './part.ts';
import { PlanRecord, readEarlier } from './record.ts';
import { judged } from './results.ts';

function part(name: string): Part {
  return { name, about: name, plans: ['run'], budget: { cached: 5, cold: 5 } };
}

const PARTS = [part('first'), part('second'), part('third')];
const HEAD = { plan: 'run', commit: 'abc', cold: [], slowness: 1 };

describe('the record of a plan', () => {
  let file: string;
  before(async () => {
    file = join(await mkdtemp(join(tmpdir(), 'fairlead-ci-')), 'dist/summary.json');
  });
  after(() => rm(join(file, '../..'), { recursive: true }));

  it('is read again as it was kept, in the order of the plan', async () => {
    const record = new PlanRecord(file, { head: HEAD, parts: PARTS, earlier: [] });
    const results = [judged('first', { seconds: 1 }, 5), judged('third', { seconds: 6 }, 5)];
    for (const result of results.toReversed()) await record.keep(result);
    assert.deepEqual(await readEarlier(file, 'abc'), results);
    assert.deepEqual(record.summary().notRun, ['second']);
  });

  it('says nothing about another commit', async () => {
    assert.deepEqual(await readEarlier(file, 'def'), []);
    assert.deepEqual(await readEarlier(join(file, '../none.json'), 'abc'), []);
  });

  it('takes the later result of a part', async () => {
    const earlier = await readEarlier(file, 'abc');
    const record = new PlanRecord(file, { head: HEAD, parts: PARTS, earlier });
    await record.keep(judged('third', { seconds: 2 }, 5));
    assert.equal(record.summary().results[1]?.failure, undefined);
  });
});
