import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { enterNamespace, ipBatch } from '../../lab/host/namespaces.ts';
import { silentProgress } from '../../lab/host/progress.ts';
import { run } from '../../lab/host/run.ts';
import { provideBench } from '../../lab/parts/bench.ts';
import { KernelWatch, monotonicMs } from './kernel-watch.ts';

const SET = 'add table ip t; add set ip t s { type ipv4_addr . inet_service; }';

describe('KernelWatch', () => {
  const name = `kernel-watch-${process.pid}`;
  const namespacePath = `/run/netns/${name}`;
  const nft = (text: string): Promise<string> => run(enterNamespace(namespacePath, ['nft', text]));

  before(async () => {
    await ipBatch([`netns add ${name}`]);
    await nft(SET);
  });
  after(() => ipBatch([`netns delete ${name}`]));

  it('reports when an element with the address was committed, and no other', async () => {
    const tool = await provideBench({ progress: silentProgress });
    using watch = new KernelWatch({ tool, namespacePath });
    await watch.expect('10.1.2.3');
    await nft('add element ip t s { 10.1.2.4 . 80 }');
    const other = await watch.sight({ quietMs: 0, deadlineMs: 300 });
    assert.equal(other.count, 0);
    const fromMs = monotonicMs();
    await nft('add element ip t s { 10.1.2.3 . 80, 10.1.2.3 . 81 }');
    const seen = await watch.sight({ quietMs: 50, deadlineMs: 5_000 });
    assert.equal(seen.count, 2);
    assert.ok(seen.firstMs >= fromMs && seen.lastMs <= monotonicMs());
    assert.equal(seen.isOverrun, false);
  });

  it('discards earlier events when it expects another address', async () => {
    const tool = await provideBench({ progress: silentProgress });
    using watch = new KernelWatch({ tool, namespacePath });
    await watch.expect('10.1.3.1');
    await nft('add element ip t s { 10.1.3.1 . 80 }');
    await watch.sight({ quietMs: 0, deadlineMs: 5_000 });
    await watch.expect('10.1.3.2');
    assert.equal((await watch.sight({ quietMs: 0, deadlineMs: 100 })).count, 0);
  });
});
