import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { bundleFairlead } from '../../lab/real/proxies/fairlead.ts';
import { plant, SABOTAGES } from './catalogue.ts';

describe('a sabotage', () => {
  let folder: string;
  let program: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fairlead-sabotage-'));
    await bundleFairlead(join(folder, 'program.mjs'));
    program = await readFile(join(folder, 'program.mjs'), 'utf8');
  });
  after(() => rm(folder, { recursive: true }));

  // A run takes minutes and happens seldom: that the program has changed shall show here.
  for (const sabotage of SABOTAGES) {
    it(`${sabotage.name} can be planted in the program as it is now`, () => {
      assert.notEqual(plant(program, sabotage), program);
    });
  }
});

it('is rejected if the program does not contain its text exactly once', () => {
  const [sabotage] = SABOTAGES;
  assert.ok(sabotage);
  for (const program of ['', sabotage.replace.repeat(2)]) {
    assert.throws(() => plant(program, sabotage), { code: 'LAB_USAGE' });
  }
});
