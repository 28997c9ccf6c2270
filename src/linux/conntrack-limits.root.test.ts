import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setConntrackLimits } from './conntrack-limits.ts';
import { enterOwnMounts, enterOwnNetwork, run } from './netlink/testing/own-namespace.ts';
import { kernelSysctls } from './sysctl.ts';
import { restoreSysctls } from './sysctl-state.ts';

const PREFIX = 'net/netfilter/nf_conntrack_';
const NAMES = ['tcp_timeout_established', 'tcp_timeout_close_wait', 'tcp_be_liberal'].concat(
  'udp_timeout',
  'udp_timeout_stream',
);
const LIMITS = {
  min: 1,
  cpuCount: 2,
  tcpEstablishedTimeoutMs: 86_401_000,
  tcpCloseWaitTimeoutMs: 3_601_000,
  tcpBeLiberal: true,
  udpTimeoutMs: 41_000,
  udpStreamTimeoutMs: 161_000,
};

const sysctls = kernelSysctls();
const values = () => NAMES.map((name) => sysctls.read(PREFIX + name));
let folder = '';

before(() => {
  enterOwnNetwork();
  folder = mkdtempSync(join(tmpdir(), 'fairlead-limits-'));
});
after(() => rmSync(folder, { recursive: true }));

describe('limits of connection tracking', () => {
  it('are set in the kernel and restored', async () => {
    const path = join(folder, 'all.json');
    const earlier = values();
    const { changes, problems } = await setConntrackLimits(LIMITS, sysctls, path);
    assert.deepEqual(problems, []);
    assert.equal(changes.length, NAMES.length);
    assert.deepEqual(values(), ['86401', '3601', '1', '41', '161']);
    assert.deepEqual(await setConntrackLimits(LIMITS, sysctls, path), { changes: [], problems });
    sysctls.write(`${PREFIX}udp_timeout`, '99');
    const restored = await restoreSysctls(sysctls, path);
    assert.deepEqual(restored.leftAlone, [`${PREFIX}udp_timeout`]);
    assert.deepEqual(restored.problems, []);
    assert.deepEqual(values(), earlier.toSpliced(3, 1, '99'));
  });

  it('of the whole kernel are denied outside of the initial namespace, and the others are set', async () => {
    const path = join(folder, 'denied.json');
    const max = Number(sysctls.read(`${PREFIX}max`));
    const limits = { ...LIMITS, maxPerCore: max, min: max * 8, udpTimeoutMs: 43_000 };
    const { changes, problems } = await setConntrackLimits(limits, sysctls, path);
    assert.ok(changes.some(({ name, after }) => name.endsWith('udp_timeout') && after === '43'));
    // Which of the two is denied depends on how large the machine's table is already.
    assert.ok(problems.length >= 1);
    assert.ok(problems.every(({ code }) => code === 'SYSCTL_DENIED'));
    assert.equal(Number(sysctls.read(`${PREFIX}max`)), max);
  });

  it('that cannot be written are reported one by one', async () => {
    enterOwnMounts();
    run(['mount', '--bind', '/proc/sys', '/proc/sys']);
    run(['mount', '-o', 'remount,bind,ro', '/proc/sys']);
    const limits = { ...LIMITS, udpTimeoutMs: 51_000, udpStreamTimeoutMs: 171_000 };
    const { changes, problems } = await setConntrackLimits(
      limits,
      sysctls,
      join(folder, 'ro.json'),
    );
    assert.deepEqual(changes, []);
    assert.ok(problems.length >= 2);
    assert.ok(problems.every(({ code }) => code === 'SYSCTL_READ_ONLY'));
  });
});
