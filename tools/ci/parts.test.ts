import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { partsOf } from './choose-parts.ts';
import { DEADLINES, GRACE_SECONDS, HANG_FACTOR, TOTALS } from './limits.ts';
import { type Part, PLANS, totalSeconds } from './part.ts';
import { PARTS } from './parts.ts';
import { programOf } from './program.ts';

const ROOT = join(import.meta.dirname, '../..');

describe('the table of parts', () => {
  it('names each part once, as a file can be named and a row of 80 columns has room for', () => {
    const names = PARTS.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
    for (const name of names) assert.match(name, /^[a-z0-9][a-z0-9.-]{1,35}$/);
  });

  for (const plan of PLANS) {
    it(`has budgets for ${plan} that add up to no more than its total`, () => {
      const parts = partsOf(plan, PARTS);
      assert.ok(parts.length > 5);
      for (const isCold of [false, true]) {
        const most = isCold ? TOTALS[plan].cold : TOTALS[plan].cached;
        const sum = totalSeconds(parts, isCold);
        assert.ok(sum <= most, `${sum} s of ${most} s ${isCold ? 'cold' : 'with caches'}`);
      }
      for (const { budget } of parts) assert.ok(budget.cached <= budget.cold);
    });
  }

  it('leaves a landing that fails by its last part time to end within 90 minutes', () => {
    const parts = partsOf('run', PARTS);
    const most = Math.max(...parts.map(({ budget }) => budget.cold));
    const worst = totalSeconds(parts, true) + (HANG_FACTOR - 1) * most + GRACE_SECONDS;
    assert.ok(DEADLINES.run <= 90 * 60);
    assert.ok(worst <= DEADLINES.run, `${worst} s`);
  });

  it('runs only scripts that package.json has', async () => {
    const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
    for (const { command } of PARTS) {
      if (command)
        assert.doesNotThrow(() => programOf(command, { scripts, binFolder: '', env: {} }));
    }
  });

  it('runs only commands that the groups of integration/ have', () => {
    const groups = readdirSync(join(ROOT, 'integration'));
    let seen = 0;
    for (const { command } of PARTS) {
      const [, , , script = '', , name = ''] = command ?? [];
      if (!groups.includes(script)) continue;
      const file = join(ROOT, 'integration', script, name, 'command.ts');
      assert.ok(name !== '' && existsSync(file), `npm run ${script} -- ${name}`);
      seen++;
    }
    assert.ok(seen > 10, `only ${seen} parts were seen`);
  });

  it('runs in nightly what .ci/run runs, or a larger part under the same first word', () => {
    const firstWord = ({ name }: Part): string =>
      name.split('-')[0]?.replace('differing', 'conformance') ?? '';
    const nightly = new Set(partsOf('nightly', PARTS).map(firstWord));
    const left = partsOf('run', PARTS).filter((part) => !nightly.has(firstWord(part)));
    assert.deepEqual(left, []);
  });
});
