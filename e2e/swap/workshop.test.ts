import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { run } from '../../lab/host/run.ts';
import { furnish } from './workshop.ts';

it("the operator's folder runs the program, as steps of docs/install.md do", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-workshop-'));
  t.after(() => rm(folder, { recursive: true }));
  await furnish(folder);
  const told = await run(['npm', 'run', '-s', 'fairlead', '--', '--version'], { cwd: folder });
  assert.match(told, /^fairlead \d/);
});
