import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it, type TestContext } from 'node:test';

const FILL = join(import.meta.dirname, 'testing/fill-output.ts');
const DEADLINE_MS = 30_000;

interface Filled {
  readonly code: string;
  readonly writtenBytes: number;
  /** Whether the shared description of the descriptor was changed. */
  readonly isNonBlocking: boolean;
}

/**
 * The result of a process that writes to standard error, redirected by a shell, without a reader.
 */
async function filled(t: TestContext, redirection: string): Promise<Filled> {
  const child = spawn('sh', ['-c', `{ "$0" "$1" ${redirection}; } 3>&1`, process.execPath, FILL], {
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, so that what the shell has started ends with it.
    detached: true,
  });
  const end = (): void => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  };
  const late = setTimeout(end, DEADLINE_MS);
  t.after(() => {
    clearTimeout(late);
    end();
    child.stderr.destroy();
  });
  const said = await text(child.stdout);
  assert.notEqual(said, '', 'it did not end');
  return JSON.parse(said) as Filled;
}

describe('an output that never waits', () => {
  it('reports a stalled socket as full, and keeps its flags', async (t) => {
    // Node gives its children sockets.
    const { code, writtenBytes, isNonBlocking } = await filled(t, '');
    assert.deepEqual({ code, isNonBlocking }, { code: 'EAGAIN', isNonBlocking: false });
    assert.ok(writtenBytes > 0);
  });

  it('reports a stalled pipe as full, and keeps its flags', async (t) => {
    const { code, writtenBytes, isNonBlocking } = await filled(t, '2>&1 >&3 | sleep 3');
    assert.deepEqual({ code, isNonBlocking }, { code: 'EAGAIN', isNonBlocking: false });
    assert.ok(writtenBytes > 0);
  });

  it('names the error for a full disk and for a closed reader', async (t) => {
    assert.equal((await filled(t, '2>/dev/full')).code, 'ENOSPC');
    assert.equal((await filled(t, '2>&1 >&3 | true')).code, 'EPIPE');
  });
});
