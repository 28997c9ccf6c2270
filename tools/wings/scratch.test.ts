import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { leavingWith, withoutEntry } from './scratch.ts';
import { WINGS } from './table.ts';

const root = join(import.meta.dirname, '../..');
const read = (file: string) => readFile(join(root, file), 'utf8');

describe('a wing that is taken off', () => {
  it('takes along what stands on it', () => {
    assert.deepEqual(
      leavingWith(['top']).map(({ name }) => name),
      ['top', 'view'],
    );
    assert.deepEqual(
      leavingWith(['view']).map(({ name }) => name),
      ['view'],
    );
  });

  it('is named nowhere in the registries any longer', async () => {
    const registries = await Promise.all(
      ['src/wings/wing-registry.ts', 'src/wings/commands.ts'].map(read),
    );
    for (const { name } of WINGS) {
      const left = registries.map((text) => withoutEntry(text, name)).join('\n');
      assert.doesNotMatch(left, new RegExp(`import\\('\\./${name}/`), name);
    }
  });

  it('leaves the others where they are', async () => {
    const table = await read('tools/wings/table.ts');
    const left = withoutEntry(table, 'ipvs');
    assert.doesNotMatch(left, /name: 'ipvs'/);
    const others = WINGS.filter(({ name }) => name !== 'ipvs');
    for (const { name } of others) assert.match(left, new RegExp(`name: '${name}'`));
  });

  it('has what leaves with it where the table says', () => {
    const paths = WINGS.flatMap(({ folders, alsoOf }) => [...folders, ...alsoOf]);
    // A wing may have no part in src/linux.
    const missing = paths.filter((path) => !existsSync(join(root, path)));
    assert.deepEqual(
      missing.filter((path) => !path.startsWith('src/linux/')),
      [],
    );
  });
});
