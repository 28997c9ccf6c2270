import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { processesByNamespace } from './namespace-processes.ts';
import {
  enterNamespace,
  ipBatch,
  namespaceName,
  namespacePath,
  removeNamespaces,
} from './namespaces.ts';
import { until } from './until.ts';

describe('processesByNamespace()', () => {
  it('finds the processes of each namespace, and removeNamespaces() ends them', async () => {
    const lab = `t${randomBytes(3).toString('hex')}`;
    const [one, other] = ['one', 'other'].map((role) => ({ lab, role }));
    assert.ok(one && other);
    const names = [one, other].map(namespaceName);
    await ipBatch(names.map((name) => `netns add ${name}`));
    const [command, ...args] = enterNamespace(namespacePath(one), ['sleep', '60']);
    const sleeper = spawn(command, args, { stdio: 'ignore' });
    const ended = once(sleeper, 'exit');
    try {
      const paths = [one, other].map(namespacePath);
      await until(
        async () => (await processesByNamespace(paths)).get(namespacePath(one))?.length === 1,
        { what: 'the process to be in its namespace', deadlineMs: 5_000 },
      );
      const found = await processesByNamespace(paths);
      assert.deepEqual(found.get(namespacePath(one)), [sleeper.pid]);
      assert.deepEqual(found.get(namespacePath(other)), []);
    } finally {
      await removeNamespaces(names);
    }
    assert.deepEqual(await ended, [null, 'SIGKILL']);
    assert.equal(
      (await processesByNamespace([namespacePath(one)])).get(namespacePath(one))?.length,
      0,
    );
  });
});
