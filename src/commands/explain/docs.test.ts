import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { describe, it } from 'node:test';
import { CODES, EXIT } from '../../explain/codes.ts';
import { runCommand } from '../basis/testing/run-command.ts';
import { explainCommand } from '../explain-command.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PAGE = await readFile(join(ROOT, 'docs/explain.md'), 'utf8');
const SHOP = join(import.meta.dirname, 'testdata/shop.yaml');
const OFFLINE = ['-f', SHOP, '--node', 'node1', '--cluster-cidr', '10.1.0.0/16'];
const EXAMPLES = [...PAGE.matchAll(/^```\n\$ fairlead explain (.+)\n([\s\S]*?)\n```$/gm)];

describe('docs/explain.md', () => {
  it('has examples', () => assert.ok(EXAMPLES.length >= 6));

  for (const [, args = '', output] of EXAMPLES) {
    it(`shows what the command prints: explain ${args}`, async (t) => {
      const { out } = await runCommand(t, explainCommand(), [...OFFLINE, ...inRoot(args)]);
      assert.equal(out, output);
    });
  }

  it('has every code with its exit code', () => {
    for (const [code, { exit, means }] of Object.entries(CODES)) {
      assert.ok(PAGE.includes(`| \`${code}\` | ${EXIT[exit]} | ${means} |`), code);
    }
  });
});

/** The paths of the page are relative to the repository. */
function inRoot(args: string): string[] {
  return args
    .split(' ')
    .map((word) => (word.startsWith('src/') ? relative('.', join(ROOT, word)) : word));
}
