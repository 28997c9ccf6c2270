import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Interner } from './interner.ts';
import { narrow } from './narrow.ts';
import { withPodNames } from './pod-names.ts';

it('adds names of pods, and nothing for endpoints that are no pods', () => {
  const target = (kind: string, name: string) => ({ targetRef: { kind, name } });
  const raw = {
    metadata: { namespace: 'shop', name: 'web-a' },
    addressType: 'IPv4',
    endpoints: [
      { addresses: ['10.0.0.1'], ...target('Pod', 'web-1') },
      { addresses: ['10.0.0.2'], ...target('Node', 'node1') },
      { addresses: ['10.0.0.3'], ...target('Pod', '../secrets') },
      { addresses: ['10.0.0.4'] },
      'damaged',
    ],
  };
  const slice = narrow('slice', raw, new Interner())?.object;
  assert.ok(slice);
  const names = withPodNames(slice, raw).endpoints.map(({ podName }) => podName);
  assert.deepEqual(names, ['web-1', undefined, undefined, undefined]);
});
