import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type EndpointSlice, paths } from '../../../lab/api/objects.ts';
import { until } from '../../../lab/host/until.ts';
import { ScopeLab, WAIT_MS } from './scope-lab.ts';

const LONG_MS = 180_000;
const OTHER_SERVICES = 500;
const CHANGES = 100;

describe('the cost of a scope', { timeout: LONG_MS }, () => {
  let stage: ScopeLab;

  before(async () => {
    stage = await ScopeLab.start({ load: { services: OTHER_SERVICES, endpointsPerService: 5 } });
    await stage.lab.api.create(paths.namespaces, { metadata: { name: 'shop' } });
    for (const name of ['web', 'db', 'cache']) await stage.service(`shop/${name}`);
    await stage.grant('shop');
  });

  after(async () => await stage?.[Symbol.asyncDispose]());

  it('does not grow with Services of other namespaces, nor with their changes', async (t) => {
    const scope = { namespaces: ['shop'], services: [] };
    await using scoped = await stage.listen({ scope, watchesServiceCidrs: false });
    await using whole = await stage.listen({}, stage.lab.credentials.proxyKubeconfig);
    await Promise.all([scoped.synced(), whole.synced()]);
    await scoped.has(
      ['web', 'db', 'cache'].flatMap((n) => [`service shop/${n}`, `slice shop/${n}`]),
    );
    const [listed, listedWhole] = [scoped.receivedBytes, whole.receivedBytes];
    const { items } = await stage.lab.api.list<EndpointSlice>(paths.allSlices);
    const others = items.filter(({ metadata }) => metadata.name.startsWith('svc-'));
    const puts = whole.putCount;
    for (const { metadata } of others.slice(0, CHANGES)) {
      const path = paths.slice(metadata.namespace ?? '', metadata.name);
      await stage.lab.api.patch(path, { metadata: { annotations: { changed: 'yes' } } });
    }
    await until(() => whole.putCount >= puts + CHANGES, {
      what: 'all changes',
      deadlineMs: WAIT_MS,
    });
    const [changed, changedWhole] = [
      scoped.receivedBytes - listed,
      whole.receivedBytes - listedWhole,
    ];
    const requests = await stage.requests();
    t.diagnostic(
      `initial lists: ${listed} bytes, unscoped ${listedWhole}; ${CHANGES} changes elsewhere: ` +
        `${changed} bytes, unscoped ${changedWhole}; ${requests.length} requests`,
    );
    assert.ok(listed * 10 < listedWhole, `${listed} of ${listedWhole} bytes`);
    assert.ok(changed * 10 < changedWhole, `${changed} of ${changedWhole} bytes`);
  });
});
