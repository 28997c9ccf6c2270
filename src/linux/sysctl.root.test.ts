import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { enterOwnMounts, enterOwnNetwork, run } from './netlink/testing/own-namespace.ts';
import { kernelSysctls } from './sysctl.ts';

const UDP = 'net/netfilter/nf_conntrack_udp_timeout';

before(enterOwnNetwork);

describe('settings of the kernel', () => {
  it('are read and written in the namespace of the caller', () => {
    const sysctls = kernelSysctls();
    const before = sysctls.read(UDP);
    assert.deepEqual(sysctls.write(UDP, '77'), { name: UDP, before, after: '77' });
    assert.equal(run(['sysctl', '-n', 'net.netfilter.nf_conntrack_udp_timeout']).trim(), '77');
    assert.equal(sysctls.write(UDP, '77'), undefined);
  });

  it('of several numbers are equal in any spacing', () => {
    const sysctls = kernelSysctls();
    const name = 'net/ipv4/ip_local_port_range';
    assert.ok(sysctls.write(name, '20000 30000'));
    assert.equal(sysctls.read(name), '20000 30000');
    assert.equal(sysctls.write(name, ' 20000\t30000\n'), undefined);
  });

  it('that are missing, rejected or outside of /proc/sys fail with a code and the next step', () => {
    const sysctls = kernelSysctls();
    const failing = (act: () => unknown) => {
      try {
        act();
      } catch (error) {
        return error as { code: string; next: string; cause: { code: string } };
      }
      return assert.fail('it did not fail');
    };
    const missing = failing(() => sysctls.write('net/netfilter/no_such_thing', '1'));
    assert.deepEqual([missing.code, missing.cause.code], ['SYSCTL_MISSING', 'ENOENT']);
    assert.match(missing.next, /modprobe/);
    const rejected = failing(() => sysctls.write(UDP, 'a while'));
    assert.deepEqual([rejected.code, rejected.cause.code], ['SYSCTL_REFUSED', 'EINVAL']);
    const denied = failing(() => sysctls.write('net/netfilter/nf_conntrack_max', '1000'));
    assert.deepEqual([denied.code, denied.cause.code], ['SYSCTL_DENIED', 'EACCES']);
  });

  it('reject a path that leads out of their folder', () => {
    for (const name of ['../../etc/hostname', 'net/../../version', '/etc/hostname', '', 'net//x']) {
      assert.throws(() => kernelSysctls().read(name), { code: 'SYSCTL_MISSING' });
    }
  });

  it('that are mounted read-only are reported so, and a value that is equal already is not written', () => {
    enterOwnMounts();
    run(['mount', '--bind', '/proc/sys', '/proc/sys']);
    run(['mount', '-o', 'remount,bind,ro', '/proc/sys']);
    const sysctls = kernelSysctls();
    assert.equal(sysctls.write(UDP, sysctls.read(UDP)), undefined);
    assert.throws(() => sysctls.write(UDP, '78'), { code: 'SYSCTL_READ_ONLY' });
  });
});
