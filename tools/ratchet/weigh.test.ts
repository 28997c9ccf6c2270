import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { stale, withTable } from './page.ts';
import { complaints, weigh } from './weigh.ts';

const WEIGHED = { coreLines: 1_000, srcLines: 2_000, srcFiles: 100, docWords: 5_000 };

describe('a checkout', () => {
  it('is weighed without its tests, the core apart from each wing', async (t) => {
    const root = await mkdtemp(join(tmpdir(), 'fairlead-weight-'));
    t.after(() => rm(root, { recursive: true }));
    const files = {
      'src/agent/agent.ts': 'a\nb\n',
      'src/agent/agent.test.ts': 'a\n',
      'src/agent/testing/agent-stage.ts': 'a\n',
      'src/wings/ipvs/plane/server-plan.ts': 'a\n',
      'src/linux/ipvs/ipvs-exchange.ts': 'a\nb\nc\n',
      'README.md': 'two words\n',
      'docs/page/one.md': 'and three more',
    };
    for (const [file, text] of Object.entries(files)) {
      await mkdir(dirname(join(root, file)), { recursive: true });
      await writeFile(join(root, file), text);
    }
    const { weighed, byPart } = await weigh(root);
    assert.deepEqual(weighed, { coreLines: 2, srcLines: 6, srcFiles: 3, docWords: 5 });
    assert.deepEqual(byPart.get('ipvs'), { files: 2, lines: 4 });
  });
});

describe('a bound', () => {
  it('holds what is there, and little more', () => {
    assert.deepEqual(complaints(WEIGHED, WEIGHED), []);
    assert.deepEqual(complaints({ ...WEIGHED, srcFiles: 99 }, WEIGHED), []);
  });

  it('is broken by one line more', () => {
    const [only, ...more] = complaints({ ...WEIGHED, coreLines: 1_001 }, WEIGHED);
    assert.match(only ?? '', /^coreLines: 1001, over its bound of 1000/);
    assert.deepEqual(more, []);
  });

  it('is lowered with what was taken away', () => {
    assert.match(complaints({ ...WEIGHED, docWords: 4_900 }, WEIGHED)[0] ?? '', /lower its bound/);
  });
});

describe('the map of wings', () => {
  it('is stale when a wing has grown by more than a twentieth', () => {
    const text = '# Map\n<!-- wings:begin -->\n<!-- wings:end -->\n';
    const sized = (lines: number) => new Map([['ipvs', { files: 1, lines }]]);
    const page = withTable(text, sized(1_000));
    assert.deepEqual(stale(page, sized(1_050)), []);
    assert.match(stale(page, sized(1_060))[0] ?? '', /^ipvs has 1060 lines/);
    assert.equal(stale(text, sized(1_000)).length, 1);
  });
});
