import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SysctlError } from '../sysctl-error.ts';
import { conntrackFill } from './table-use.ts';

it('reads entries and limit, and returns nothing where the kernel has no conntrack', () => {
  const values = new Map([
    ['net/netfilter/nf_conntrack_count', '12'],
    ['net/netfilter/nf_conntrack_max', '262144'],
  ]);
  const read = (name: string): string => {
    const value = values.get(name);
    if (value === undefined) throw new SysctlError('SYSCTL_MISSING', name, { next: '' });
    return value;
  };
  assert.deepEqual(conntrackFill({ read }), { entries: 12, limit: 262_144 });
  values.clear();
  assert.equal(conntrackFill({ read }), undefined);
});
