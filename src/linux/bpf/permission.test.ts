import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertMayLoad } from './permission.ts';

test('all that is missing is named, with what to do', () => {
  assert.throws(() => assertMayLoad(new Set(['NET_ADMIN'])), {
    code: 'BPF_NOT_PERMITTED',
    message: /CAP_BPF .* and CAP_PERFMON /,
    next: /add BPF, PERFMON to the capabilities/,
  });
});

test('three are enough, and one in their place', () => {
  assertMayLoad(new Set(['BPF', 'NET_ADMIN', 'PERFMON']));
  assertMayLoad(new Set(['SYS_ADMIN']));
});
