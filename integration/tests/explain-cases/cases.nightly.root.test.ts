import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { type Scene, startScene } from '../explain-proof/scene.ts';
import { CASES, printedIn } from './cases.ts';
import { caseObjects } from './shop.ts';

const ESCAPE = '\x1b';

describe('the cases of docs/explain.md, on a terminal', () => {
  let scene: Scene;
  before(async () => {
    scene = await startScene('nftables', { objectsOf: caseObjects });
  });
  after(() => scene.stop());

  for (const columns of [80, 160]) {
    for (const hasColours of [true, false]) {
      for (const each of CASES) {
        const how = `${columns} columns, ${hasColours ? 'with' : 'without'} colours`;
        it(`${each.title}, ${how}`, async () => {
          const { code, lines } = await printedIn(scene, each, { columns, hasColours });
          const text = lines.join('\n');
          const plain = lines.map((line) => stripVTControlCharacters(line));
          assert.equal(text.includes(ESCAPE), hasColours, text);
          const wide = plain.filter((line) => line.length > columns);
          assert.deepEqual(wide, [], text);
          assert.ok(
            plain.some((line) => line.length > columns / 2),
            text,
          );
          const headline = plain.slice(0, plain.indexOf('')).join(' ').replaceAll(/\s+/g, ' ');
          assert.ok(headline.startsWith(`${each.code} `), text);
          assert.match(headline, each.says);
          assert.equal(code, each.exit, text);
          assert.doesNotMatch(text, /undefined|NaN|\[object/);
        });
      }
    }
  }
});
