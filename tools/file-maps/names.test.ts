import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { checkNames, linesWithOf } from './names.ts';

describe('a parameter called of', () => {
  const planted = {
    'of a function': 'function a(of: string): void {}',
    'of a method, after another one': 'class A { b(x: number, of = 1) { return x; } }',
    'of an arrow function': 'const a = (of) => 1;',
    'all the rest': 'function a(...of: string[]) {}',
    'of a function type': 'interface A { a(of?: string): void }',
    unpacked: 'function a({ of, b }: { of: string; b: string }) {}',
    'unpacked under this name': 'function a({ b: of }: A): void {}',
  };
  for (const [what, source] of Object.entries(planted)) {
    it(`is reported: ${what}`, () => {
      assert.deepEqual(linesWithOf(`\n${source}\n`), [2]);
    });
  }

  it('is none where of is a keyword, a field, a method or a word in a text', () => {
    const source = `for (const x of y) a(x);
      for (const [x] of y) if (a) b();
      const rule = { of: 'saddr' };
      function c({ of: field }: { readonly of: string }, x: number): void {}
      Buffer.of(1);
      class A { of(x: number): void {} }
      // a(of: string): void
      const text = '(of) => 1';`;
    assert.deepEqual(linesWithOf(source), []);
  });
});

it('reports a file that has the name of another one, tests apart', async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'fairlead-names-'));
  t.after(() => rm(root, { recursive: true }));
  for (const file of ['a/b.ts', 'a/b.test.ts', 'c/b.test.ts', 'c/testing/b.ts', 'c/d.ts']) {
    await mkdir(dirname(join(root, 'src', file)), { recursive: true });
    await writeFile(join(root, 'src', file), '');
  }
  assert.deepEqual(await checkNames(root, 'src'), [
    { file: 'src/c/testing/b.ts', problem: 'has the name of src/a/b.ts' },
  ]);
});
