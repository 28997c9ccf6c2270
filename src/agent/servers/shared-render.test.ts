import assert from 'node:assert/strict';
import { it } from 'node:test';
import { sharedRender } from './shared-render.ts';

it('renders once for those who ask at once, and again for whoever asks later', async () => {
  let count = 0;
  const render = sharedRender(async () => String(++count));
  const [first, ...others] = await Promise.all([render(), render(), render()]);
  assert.equal(String(first), '1');
  for (const other of others) assert.equal(other, first);
  assert.equal(String(await render()), '2');
});

it('passes a failure on to all who wait for it, and tries anew afterwards', async () => {
  let count = 0;
  const render = sharedRender(async () => {
    if (++count === 1) throw new Error('planted');
    return 'text';
  });
  const [first, second] = await Promise.allSettled([render(), render()]);
  assert.deepEqual([first.status, second.status], ['rejected', 'rejected']);
  assert.equal(String(await render()), 'text');
});
