import assert from 'node:assert/strict';
import { closeSync, fstatSync, mkdtempSync, openSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { SocketError } from '../sockets/socket-error.ts';
import { MOST_DESCRIPTORS } from './descriptor-message.ts';
import {
  connectDescriptors,
  DescriptorListener,
  type DescriptorSocket,
} from './pass-descriptors.ts';

const WAIT = { timeoutMs: 5000 };
const folder = mkdtempSync(join(tmpdir(), 'fairlead-descriptors-'));
after(() => rmSync(folder, { recursive: true }));

async function pair(name: string): Promise<[DescriptorSocket, DescriptorSocket]> {
  const path = join(folder, name);
  using listener = new DescriptorListener(path);
  const near = await connectDescriptors(path, WAIT);
  return [near, await listener.accept(WAIT)];
}

function isSocketError(errorCode: string): (error: unknown) => boolean {
  return (error) => error instanceof SocketError && error.code === errorCode;
}

describe('descriptors passed over a unix socket', () => {
  it('passes 200 descriptors with their payload', async () => {
    const [near, far] = await pair('many');
    const fds = Array.from({ length: MOST_DESCRIPTORS }, () => openSync('/dev/null', 'r'));
    const payload = Buffer.alloc(100_000, 'x');
    await near.send({ payload, fds }, WAIT);
    const parcel = await far.receive(WAIT);
    assert.ok(parcel);
    assert.ok(parcel.payload.equals(payload));
    assert.equal(parcel.fds.length, MOST_DESCRIPTORS);
    const { rdev } = fstatSync(fds[0] ?? -1);
    for (const fd of parcel.fds) {
      assert.equal(fstatSync(fd).rdev, rdev);
      closeSync(fd);
    }
    for (const fd of fds) closeSync(fd);
    near[Symbol.dispose]();
    far[Symbol.dispose]();
  });

  it('keeps messages apart, in order, with and without descriptors', async () => {
    const [near, far] = await pair('apart');
    const fd = openSync('/dev/zero', 'r');
    await near.send({ payload: Buffer.from('first'), fds: [] }, WAIT);
    await near.send({ payload: Buffer.from('second'), fds: [fd] }, WAIT);
    assert.deepEqual(await far.receive(WAIT), { payload: Buffer.from('first'), fds: [] });
    const second = await far.receive(WAIT);
    assert.equal(String(second?.payload), 'second');
    assert.equal(second?.fds.length, 1);
    closeSync(second?.fds[0] ?? -1);
    closeSync(fd);
    near[Symbol.dispose]();
    assert.equal(await far.receive(WAIT), undefined, 'the other end was closed');
    far[Symbol.dispose]();
  });

  it('waits for a message, and for room to send', async () => {
    const [near, far] = await pair('waits');
    const received = far.receive(WAIT);
    await near.send({ payload: Buffer.from('late'), fds: [] }, WAIT);
    assert.equal(String((await received)?.payload), 'late');
    const payload = Buffer.alloc(200_000);
    const count = 20;
    const sending = (async () => {
      for (let sent = 0; sent < count; sent++) await near.send({ payload, fds: [] }, WAIT);
    })();
    for (let got = 0; got < count; got++) {
      assert.equal((await far.receive(WAIT))?.payload.length, payload.length);
    }
    await sending;
    near[Symbol.dispose]();
    far[Symbol.dispose]();
  });

  it('rejects at its deadline and when it is aborted', async () => {
    const [near, far] = await pair('deadline');
    await assert.rejects(near.receive({ timeoutMs: 20 }), isSocketError('ETIMEDOUT'));
    const stop = new AbortController();
    const waiting = near.receive({ timeoutMs: 5000, signal: stop.signal });
    stop.abort();
    await assert.rejects(waiting, isSocketError('ECANCELED'));
    near[Symbol.dispose]();
    far[Symbol.dispose]();
  });

  it('rejects what is too much, and leaves no descriptor behind', async () => {
    const [near, far] = await pair('too-much');
    const fd = openSync('/dev/null', 'r');
    const fds = Array<number>(MOST_DESCRIPTORS + 1).fill(fd);
    const before = readdirSync('/proc/self/fd').length;
    await assert.rejects(
      near.send({ payload: Buffer.from('x'), fds }, WAIT),
      isSocketError('EMSGSIZE'),
    );
    assert.equal(readdirSync('/proc/self/fd').length, before);
    closeSync(fd);
    near[Symbol.dispose]();
    far[Symbol.dispose]();
  });

  it('names why no connection can be made', async () => {
    await assert.rejects(connectDescriptors(join(folder, 'none'), WAIT), isSocketError('ENOENT'));
    const path = join(folder, 'gone');
    new DescriptorListener(path)[Symbol.dispose]();
    await assert.rejects(connectDescriptors(path, WAIT), isSocketError('ECONNREFUSED'));
    const long = join(folder, 'x'.repeat(200));
    await assert.rejects(connectDescriptors(long, WAIT), isSocketError('ENAMETOOLONG'));
  });
});
