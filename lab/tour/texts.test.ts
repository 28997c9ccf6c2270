import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { indexPage } from './index-page.ts';
import { CHAPTERS } from './registry.ts';
import { SECTION_IDS, TEXTS } from './texts.ts';

test('every experiment of the texts has a chapter', () => {
  const repeated = new Set(CHAPTERS.flatMap(({ repeats }) => repeats));
  assert.deepEqual(
    SECTION_IDS.filter((section) => !repeated.has(section)),
    [],
  );
});

test('every section is of one of the texts', () => {
  const ids = TEXTS.map(({ id }) => id);
  const strays = SECTION_IDS.filter((section) => !ids.some((id) => section.startsWith(`${id} `)));
  assert.deepEqual(strays, []);
});

test('docs/learn lists the chapters as they are', async () => {
  const path = join(import.meta.dirname, '../../docs/learn/README.md');
  assert.equal(await readFile(path, 'utf8'), indexPage(), 'npm run lab -- tour --docs docs/learn');
});

test('chapters have different names', () => {
  assert.equal(new Set(CHAPTERS.map(({ name }) => name)).size, CHAPTERS.length);
});
