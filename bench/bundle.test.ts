import assert from 'node:assert/strict';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { run } from '../lab/host/run.ts';
import { bundleFairlead, planted } from './bundle.ts';

const PROGRAM = 'try {\n  await plane.apply(changes);\n} catch {}';

describe('planted()', () => {
  it('puts the fault right before the rows go to the data plane', () => {
    assert.match(planted(PROGRAM, 'delay'), /setTimeout\(resolve, 20\)\); await plane\.apply/);
    assert.match(planted(PROGRAM, 'leak'), /Buffer\.alloc\(104857600, 1\); await plane\.apply/);
  });

  it('rejects a program that does not contain the text exactly once', () => {
    for (const program of ['await plane.write(changes);', PROGRAM + PROGRAM]) {
      assert.throws(() => planted(program, 'delay'), { code: 'LAB_USAGE' });
    }
  });
});

it('the bundle starts without the parts of Node that it never uses', async () => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'fairlead-bundle-'));
  const look = join(folder.path, 'look.cjs');
  await writeFile(
    look,
    "process.on('exit', () => console.log(`\\n${process.moduleLoadList.join('\\n')}`));",
  );
  const program = await bundleFairlead();
  const output = await run([process.execPath, '--require', look, ...program, '--help']);
  const loaded = output.split('\n');
  assert.ok(loaded.includes('NativeModule http'));
  assert.ok(!loaded.includes('NativeModule internal/deps/undici/undici'));
});
