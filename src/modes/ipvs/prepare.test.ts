import assert from 'node:assert/strict';
import { it } from 'node:test';
import { IpvsError } from '../../linux/ipvs/errors.ts';
import { prepareIpvs } from './prepare.ts';

const TIMEOUTS = { tcpSeconds: 900, tcpFinSeconds: 120, udpSeconds: 300 };

it('loads the module before it sets what only the module has', async () => {
  const done: string[] = [];
  const ipvs = {
    timeouts: async () => {
      done.push('request');
      return TIMEOUTS;
    },
  };
  await prepareIpvs(ipvs, async ({ name, value }) => void done.push(`${name}=${value}`));
  assert.deepEqual(done, [
    'request',
    'net/ipv4/vs/conntrack=1',
    'net/ipv4/vs/expire_nodest_conn=1',
    'net/ipv4/vs/expire_quiescent_template=1',
    'net/ipv4/vs/conn_reuse_mode=1',
  ]);
});

it('sets nothing and does not fail where the kernel has no IPVS', async () => {
  const missing = { timeouts: () => Promise.reject(new IpvsError('IPVS_MISSING')) };
  await prepareIpvs(missing, () => assert.fail('there is nothing to set'));
});

it('fails for any other reason', async () => {
  const broken = { timeouts: () => Promise.reject(new Error('no buffer space')) };
  await assert.rejects(
    prepareIpvs(broken, async () => undefined),
    /no buffer space/,
  );
});
