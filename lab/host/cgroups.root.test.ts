import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { cgroupName, hasSeparateHierarchies, makeCgroup, removeCgroups } from './cgroups.ts';
import { startDialogue } from './dialogue.ts';

const ROOT = '/sys/fs/cgroup';

async function groupsOf(lab: string): Promise<string[]> {
  const folders = hasSeparateHierarchies() ? await readdir(ROOT) : ['.'];
  const found = await Promise.all(folders.map((folder) => readdir(join(ROOT, folder))));
  return found.flat().filter((name) => name.startsWith(cgroupName({ lab, role: '' })));
}

test('removes the cgroups of a lab after their last process has exited', async () => {
  const lab = `g${process.pid}`;
  const name = cgroupName({ lab, role: 'node1' });
  await makeCgroup(name);
  assert.ok((await groupsOf(lab)).length > 0);
  const group = join(ROOT, hasSeparateHierarchies() ? 'cpuset' : '.', name);
  // A shell moves itself into the group: it can only do so if the group has CPUs.
  const member = startDialogue(['sh', '-c', `echo $$ >${group}/cgroup.procs && cat`]);
  assert.equal(await member.ask('there?'), 'there?');
  const removed = removeCgroups(lab);
  member[Symbol.dispose]();
  await removed;
  assert.deepEqual(await groupsOf(lab), []);
});
