import assert from 'node:assert/strict';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { LAYERS, problemsBy, TYPES } from './check.ts';
import { leavingWith, scratchWithout } from './scratch.ts';

const root = join(import.meta.dirname, '../..');
const LEAK = `
import type { VirtualServer } from '../linux/ipvs/ipvs-model.ts';
export type Leak = VirtualServer;
`;

describe('a copy without a wing', () => {
  it('has no problems as it stands, and has one with an import of the wing in the core', async () => {
    const tools = { root, signal: new AbortController().signal };
    await using scratch = await scratchWithout(root, leavingWith(['ipvs']));
    const problems = async (): Promise<string[]> => [
      ...(await problemsBy(TYPES, scratch.folder, tools)),
      ...(await problemsBy(LAYERS, scratch.folder, tools)),
    ];
    assert.deepEqual(await problems(), []);
    await appendFile(join(scratch.folder, 'src/agent/agent.ts'), LEAK);
    const [types = '', layers = '', ...others] = await problems();
    assert.match(types, /^types:[\s\S]*linux\/ipvs\/model\.ts/);
    assert.match(layers, /^layers:[\s\S]*linux\/ipvs\/model\.ts/);
    assert.deepEqual(others, []);
  });
});
