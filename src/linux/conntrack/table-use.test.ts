import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { conntrackLosses } from './table-use.ts';

it('adds the counters of all CPUs, by the names of the columns', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'fairlead-conntrack-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'nf_conntrack');
  writeFileSync(path, 'entries  insert_failed drop early_drop\n0a  01 02 10\n0a  0f 00 01\n');
  assert.deepEqual(conntrackLosses(path), { insertFailed: 16, drop: 2, earlyDrop: 17 });
  assert.equal(conntrackLosses(join(folder, 'missing')), undefined);
});
