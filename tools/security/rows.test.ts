import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { faultOf, rowsOf } from './rows.ts';

const ROOT = join(import.meta.dirname, '../..');

function read(path: string): string | undefined {
  const file = join(ROOT, path);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

/** Documents whose tables name tests, and how many rows they have at least. */
const DOCUMENTS = [
  { document: 'SECURITY.md', least: 40 },
  { document: 'docs/limits.md', least: 25 },
] as const;

for (const { document, least } of DOCUMENTS) {
  describe(document, () => {
    it('names for every row a test that exists', () => {
      const rows = rowsOf(read(document) ?? '');
      assert.ok(rows.length > least, `only ${rows.length} rows were found`);
      assert.deepEqual(
        rows.map((row) => faultOf(row, read)).filter((fault) => fault !== undefined),
        [],
      );
    });
  });
}

describe('the check of a row', () => {
  const files = new Map([['a.test.ts', "it('does what it should')"]]);
  const faultsOf = (test: string): (string | undefined)[] => {
    const table = `| what | test |\n|---|---|\n| a port | ${test} |\n\n| other | table |\n|---|---|\n| x | y |`;
    return rowsOf(table).map((row) => faultOf(row, (path) => files.get(path)));
  };

  it('accepts a test that is there', () => {
    assert.deepEqual(faultsOf('`a.test.ts` "does what"'), [undefined]);
  });

  it('finds a row without a test, a file that is not there, and a name that is not in it', () => {
    assert.match(faultsOf('')[0] ?? '', /line 3: 'a port' names no test/);
    assert.match(faultsOf('`b.test.ts` "does what"')[0] ?? '', /there is no b\.test\.ts/);
    assert.match(faultsOf('`a.test.ts` "does not"')[0] ?? '', /no test in a\.test\.ts is called/);
  });
});
