import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planted } from './bundle.ts';

const PROGRAM = 'try {\n  await plane.apply(changes);\n} catch {}';

describe('planted()', () => {
  it('puts the fault right before the rows go to the data plane', () => {
    assert.match(planted(PROGRAM, 'delay'), /setTimeout\(resolve, 20\)\); await plane\.apply/);
    assert.match(planted(PROGRAM, 'leak'), /Buffer\.alloc\(104857600, 1\); await plane\.apply/);
  });

  it('refuses a program in which the place is not there once', () => {
    for (const program of ['await plane.write(changes);', PROGRAM + PROGRAM]) {
      assert.throws(() => planted(program, 'delay'), { code: 'LAB_USAGE' });
    }
  });
});
