import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { updateDocument } from './document.ts';

it('updateDocument() replaces what is between the marks and nothing else', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'document-'));
  const file = join(folder, 'page.md');
  try {
    await writeFile(file, 'before\n<!-- x:begin -->\nold\n<!-- x:end -->\nafter\n');
    await updateDocument(file, 'x', 'new');
    const expected = 'before\n<!-- x:begin -->\nnew\n<!-- x:end -->\nafter\n';
    assert.equal(await readFile(file, 'utf8'), expected);
    await assert.rejects(updateDocument(file, 'y', 'new'), { code: 'LAB_USAGE' });
  } finally {
    await rm(folder, { recursive: true });
  }
});
