import assert from 'node:assert/strict';
import { it } from 'node:test';
import { sharedRender } from './metrics-server.ts';

it('renders once for concurrent requests, and again for later ones', async () => {
  let count = 0;
  const render = sharedRender(async () => String(++count));
  const [first, ...others] = await Promise.all([render(), render(), render()]);
  assert.equal(String(first), '1');
  for (const other of others) assert.equal(other, first);
  assert.equal(String(await render()), '2');
});

it('rejects all concurrent requests on failure, and renders again later', async () => {
  let count = 0;
  const render = sharedRender(async () => {
    if (++count === 1) throw new Error('planted');
    return 'text';
  });
  const [first, second] = await Promise.allSettled([render(), render()]);
  assert.deepEqual([first.status, second.status], ['rejected', 'rejected']);
  assert.equal(String(await render()), 'text');
});
