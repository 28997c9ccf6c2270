import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertMayLoad } from './permission.ts';

test('names all missing capabilities, with the next step', () => {
  assert.throws(() => assertMayLoad(new Set(['NET_ADMIN'])), {
    code: 'BPF_NOT_PERMITTED',
    message: /CAP_BPF .* and CAP_PERFMON /,
    next: /add BPF, PERFMON to the capabilities/,
  });
});

test('accepts three capabilities, or SYS_ADMIN instead', () => {
  assertMayLoad(new Set(['BPF', 'NET_ADMIN', 'PERFMON']));
  assertMayLoad(new Set(['SYS_ADMIN']));
});
