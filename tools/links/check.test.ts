import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { checkLinks } from './check.ts';
import { anchorsOf, linksOf } from './markdown.ts';

describe('links of a page', () => {
  it('finds links, images, references and HTML, with their lines', () => {
    const page = '# A\n[b](b.md) ![c](c.svg "title")\n\n[d]: d.md\n<img src="e.svg">';
    assert.deepEqual(linksOf(page), [
      { target: 'b.md', line: 2 },
      { target: 'c.svg', line: 2 },
      { target: 'd.md', line: 4 },
      { target: 'e.svg', line: 5 },
    ]);
  });

  it('skips code blocks and inline code', () => {
    assert.deepEqual(linksOf('`[a](a.md)`\n```\n[b](b.md)\n```\n'), []);
  });
});

describe('anchors of a page', () => {
  it('spells headings as GitHub does, and numbers repeated ones', () => {
    const page = "## What `run` does, and why\n### Fairlead's [table](t.md)\n## Twice\n## Twice\n";
    assert.deepEqual(
      [...anchorsOf(page)],
      ['what-run-does-and-why', 'fairleads-table', 'twice', 'twice-1'],
    );
  });
});

describe('the check of links', () => {
  it('names file and line of a missing file and of a missing heading', async (t) => {
    const root = await mkdtemp(join(tmpdir(), 'fairlead-links-'));
    t.after(() => rm(root, { recursive: true }));
    const files = {
      'README.md': '[docs](docs/a.md#there) [web](https://example.com/x)\n\n[no](docs/none.md)',
      'docs/a.md': '# There\n[up](../README.md) [folder](.) [own](#there)\n[lost](#nowhere)',
      'node_modules/x/README.md': '[no](none.md)',
    };
    for (const [file, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, file)), { recursive: true });
      await writeFile(join(root, file), text);
    }
    const { pageCount, linkCount, broken } = await checkLinks(root);
    assert.deepEqual(broken, [
      { at: 'README.md:3', target: 'docs/none.md', problem: 'no such file' },
      { at: 'docs/a.md:3', target: '#nowhere', problem: 'no such heading' },
    ]);
    assert.deepEqual({ pageCount, linkCount }, { pageCount: 2, linkCount: 6 });
  });
});
