import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { enterOwnNetwork, run } from '../../netlink/testing/own-namespace.ts';
import { WITHOUT_IPSET } from '../../testing/kernel-ipset.ts';
import { destroyIpset, ipsetPorts, listIpsets } from './ipset.ts';

enterOwnNetwork();

describe('ipsets', { skip: WITHOUT_IPSET }, () => {
  beforeEach(() => {
    run(['ipset', 'destroy']);
  });

  it('are listed by their names', async () => {
    assert.deepEqual(await listIpsets(), []);
    for (const name of ['b', 'a']) run(['ipset', 'create', name, 'hash:ip']);
    assert.deepEqual(await listIpsets(), ['a', 'b']);
  });

  it('give their ports', async () => {
    run(['ipset', 'create', 'ports', 'bitmap:port', 'range', '0-65535']);
    run(['ipset', 'create', 'both', 'hash:ip,port']);
    for (const port of ['30000', '30001']) run(['ipset', 'add', 'ports', port]);
    run(['ipset', 'add', 'both', '192.0.2.1,sctp:30002']);
    assert.deepEqual([...(await ipsetPorts('ports'))], [30000, 30001]);
    assert.deepEqual([...(await ipsetPorts('both'))], [30002]);
    assert.deepEqual([...(await ipsetPorts('none'))], []);
  });

  it('are destroyed, unless a rule uses them', async () => {
    run(['ipset', 'create', 'a', 'hash:ip']);
    run(['ipset', 'create', 'used', 'hash:ip']);
    run(['iptables', '-A', 'INPUT', '-m', 'set', '--match-set', 'used', 'dst', '-j', 'ACCEPT']);
    assert.equal(await destroyIpset('a'), 'destroyed');
    assert.equal(await destroyIpset('a'), 'missing');
    assert.equal(await destroyIpset('used'), 'busy');
    assert.deepEqual(await listIpsets(), ['used']);
    run(['iptables', '-F', 'INPUT']);
  });
});

describe('a kernel without ipset', { skip: WITHOUT_IPSET ? false : 'the kernel has ipset' }, () => {
  it('has no sets', async () => {
    assert.deepEqual(await listIpsets(), []);
    assert.deepEqual([...(await ipsetPorts('none'))], []);
  });
});
