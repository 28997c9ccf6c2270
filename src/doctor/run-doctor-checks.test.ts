import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { describe, it } from 'node:test';
import { NetlinkError } from '../linux/netlink/netlink-error.ts';
import { SysctlError } from '../linux/sysctl-error.ts';
import type { DoctorCheck } from './doctor-check.ts';
import { ok } from './finding.ts';
import { runDoctorChecks } from './run-doctor-checks.ts';
import { subject } from './testing/example-subject.ts';

const failing = (name: string, error: Error): DoctorCheck => ({
  name,
  run: () => Promise.reject(error),
});

async function found(checks: readonly DoctorCheck[], deadlineMs?: number): Promise<string[]> {
  const results = await runDoctorChecks(checks, subject(), deadlineMs);
  return results.map(({ check, level, code }) => `${check}: ${level} ${code}`);
}

describe('runDoctorChecks()', () => {
  it('goes on where a check fails, and says why', async () => {
    const denied = new NetlinkError('list', { errno: constants.errno.EPERM });
    const missing = new SysctlError('SYSCTL_MISSING', 'no such sysctl', { next: '' });
    const advised = Object.assign(new Error('busy'), { code: 'BUSY', next: 'wait' });
    const checks = [
      failing('netlink', denied),
      failing('sysctl', missing),
      failing('advised', advised),
      failing('bug', new TypeError('planted')),
      { name: 'well', run: async () => [ok('well')] },
    ];
    assert.deepEqual(await found(checks), [
      'netlink: unasked NOT_PERMITTED',
      'sysctl: ok OK',
      'advised: unasked BUSY',
      'bug: unasked CHECK_FAILED',
      'well: ok OK',
    ]);
  });

  it('does not wait for a check after its deadline', async () => {
    const never: DoctorCheck = { name: 'never', run: () => new Promise(() => undefined) };
    assert.deepEqual(await found([never], 10), ['never: unasked CHECK_LATE']);
  });
});
