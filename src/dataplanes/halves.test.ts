import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Forwarding, servicePortKey } from '../forwarding/model.ts';
import type { Inspection } from './contract.ts';
import { Halves } from './halves.ts';

const ROW: Forwarding = {
  id: { namespace: 'ns', service: 'web', port: '', protocol: 'TCP', family: 'IPv4' },
  frontends: [],
  clusterEndpoints: [],
  localEndpoints: [],
  affinitySeconds: 0,
};
const KEY = servicePortKey(ROW.id);
const CHANGE = { key: KEY, id: ROW.id, before: 'unknown', after: ROW } as const;

function finding(...right: string[]): Inspection {
  return { right: new Set(right), differences: [], differenceCount: 0, writeCount: 0 };
}

test('names a row as applied to the plane that has it right, until the row is written', () => {
  const halves = new Halves();
  halves.inspected([ROW], { front: finding(KEY), behind: finding() });
  assert.equal(halves.changeFor('front', CHANGE).before, ROW);
  assert.equal(halves.changeFor('behind', CHANGE).before, 'unknown');
  halves.written(CHANGE);
  assert.equal(halves.changeFor('front', CHANGE).before, 'unknown');
});

test('leaves a change unchanged whose `before` is known', () => {
  const halves = new Halves();
  halves.note(KEY, { front: ROW });
  const change = { ...CHANGE, before: 'absent' } as const;
  assert.equal(halves.changeFor('front', change), change);
});
