import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { describe, it } from 'node:test';
import { NetlinkError, NetlinkRejection } from '../netlink/netlink-error.ts';
import { hasConntrack } from './has-conntrack.ts';

/** Below a file there is nothing. */
const NOT_LOADED = `${import.meta.filename}/none`;

function rejects(name: 'EINVAL' | 'EPERM'): () => Promise<void> {
  return () => Promise.reject(new NetlinkRejection('ask', { errno: constants.errno[name] }));
}

describe('hasConntrack()', () => {
  it('asks the kernel where the module is not loaded, which loads it', async () => {
    assert.equal(await hasConntrack(async () => undefined, NOT_LOADED), true);
  });

  it('takes a subsystem that does not exist for a kernel without it', async () => {
    assert.equal(await hasConntrack(rejects('EINVAL'), NOT_LOADED), false);
  });

  it('does not know of a process without the right to ask', async () => {
    assert.equal(await hasConntrack(rejects('EPERM'), NOT_LOADED), true);
  });

  it('does not ask where it is loaded', async () => {
    assert.equal(await hasConntrack(rejects('EINVAL'), import.meta.filename), true);
  });

  it('passes on a failure that is no answer', async () => {
    const fails = () =>
      Promise.reject(new NetlinkError('ask', { errno: constants.errno.ETIMEDOUT }));
    await assert.rejects(hasConntrack(fails, NOT_LOADED), { code: 'ETIMEDOUT' });
  });
});
