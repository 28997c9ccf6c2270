import assert from 'node:assert/strict';
import { it } from 'node:test';
import { compile } from '../forwarding/compile.ts';
import { type Forwarding, servicePortKey } from '../forwarding/model.ts';
import { endpoint, service, slice, view } from '../forwarding/testing/example-objects.ts';
import { Outstanding } from './outstanding.ts';
import { rowStateOf } from './row-state.ts';

function rowWith(address: string): Forwarding {
  const slices = [slice([endpoint(address)])];
  const [row] = compile({ service: service(), slices, family: 'IPv4', view: view() });
  assert.ok(row);
  return row;
}

const [BEFORE, AFTER] = [rowWith('10.1.0.1'), rowWith('10.1.0.2')];
const KEY = servicePortKey(AFTER.id);

it('says that a row without an outstanding change is applied', () => {
  assert.deepEqual(rowStateOf(new Outstanding().get(KEY), 5_000), { is: 'applied' });
});

it('says how long a row has waited, and what the kernel has until then', () => {
  const outstanding = new Outstanding();
  outstanding.change({ key: KEY, before: BEFORE, after: AFTER }, 1_000);
  const waiting = { is: 'waiting', forMs: 4_000, kernelHas: 'an earlier state' };
  assert.deepEqual(rowStateOf(outstanding.get(KEY), 5_000), waiting);
  const fresh = new Outstanding();
  fresh.change({ key: KEY, before: undefined, after: AFTER }, 1_000);
  assert.partialDeepStrictEqual(rowStateOf(fresh.get(KEY), 5_000), { kernelHas: 'nothing' });
});

it('says why the kernel rejected a row', () => {
  const outstanding = new Outstanding();
  outstanding.change({ key: KEY, before: undefined, after: AFTER }, 1_000);
  const entry = outstanding.get(KEY);
  assert.ok(entry);
  const last = { code: 'ENOSPC', message: 'no space', next: 'raise it', atMs: 2_000 };
  outstanding.reject(entry, { scope: 'row', retryAtMs: 9_000, last });
  const error = { code: 'ENOSPC', message: 'no space', next: 'raise it' };
  const expected = { is: 'rejected', forMs: 4_000, kernelHas: 'nothing', attempts: 1, error };
  assert.deepEqual(rowStateOf(outstanding.get(KEY), 5_000), expected);
});
