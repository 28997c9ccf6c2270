import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fixedMemory } from '../../../../linux/sockets/fixed-memory.ts';
import { prlimit } from '../../../../linux/sockets/socket-libc.ts';
import { connectDescriptors } from '../../../../linux/userspace/pass-descriptors.ts';
import { copyListeners } from '../listeners.ts';
import { serveHandover } from './handover-server.ts';

const RLIMIT_NOFILE = 7;

/** Lowers the soft limit of open files of this process; returns what undoes it. */
function limitOpenFiles(soft: number): () => void {
  const [usual, wanted] = [fixedMemory(16), fixedMemory(16)];
  assert.equal(prlimit(0, RLIMIT_NOFILE, 0, usual.address), 0);
  wanted.bytes.set(usual.bytes);
  wanted.bytes.writeBigUInt64LE(BigInt(soft), 0);
  assert.equal(prlimit(0, RLIMIT_NOFILE, wanted.address, 0), 0);
  return () => assert.equal(prlimit(0, RLIMIT_NOFILE, usual.address, 0), 0);
}

test('goes on after it had no descriptor for a connection', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'handover-'));
  const path = join(folder, 'handover.sock');
  const stop = new AbortController();
  const warned = Promise.withResolvers<void>();
  const log = {
    info: () => undefined,
    warn: () => warned.resolve(),
    error: () => warned.resolve(),
  };
  const give = async () => undefined;
  try {
    serveHandover({ path, listeners: [], give, log, signal: stop.signal });
    const free = openSync('/dev/null', 'r');
    closeSync(free);
    // The connection gets the last one.
    const restore = limitOpenFiles(free + 1);
    try {
      using _ = await connectDescriptors(path, { timeoutMs: 1000 });
      await warned.promise;
    } finally {
      restore();
    }
    assert.deepEqual(await copyListeners(path, 5000), []);
  } finally {
    stop.abort();
    rmSync(folder, { recursive: true });
  }
});
