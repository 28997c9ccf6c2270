import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { httpGet } from '../../servers/http-get.ts';
import { readEscapes } from '../capture.ts';
import {
  externalAddress,
  FAMILIES,
  type Family,
  outsiderAddress,
  secondNodeAddress,
  tunnelAddress,
} from '../plan.ts';
import { BARE_PORT, BareNetwork } from '../testing/bare-network.ts';
import { NETWORK_VARIANTS } from './registry.ts';

const SHORT_MS = 500;

/** Which source address the second pod saw; undefined when there was no answer. */
async function sourceSeen(
  bare: BareNetwork,
  role: string,
  family: Family,
): Promise<string | undefined> {
  const to = { address: bare.podAddress(2)[family], port: BARE_PORT, path: '/clientip' };
  return await httpGet({ namespace: bare.path(role) }, { ...to, deadlineMs: SHORT_MS }).then(
    ({ body }) => body.slice(0, body.lastIndexOf(':')).replace(/^\[|\]$/g, ''),
    () => undefined,
  );
}

/** Whether node1 forwards what a client sends through it to somewhere outside. */
async function forwardsToOutside(bare: BareNetwork): Promise<boolean> {
  const address = externalAddress(1).ipv4;
  const sourceAddress = outsiderAddress('client', 1).ipv4;
  const to = { address, port: BARE_PORT, path: '/', deadlineMs: SHORT_MS };
  await httpGet({ namespace: bare.path('client'), sourceAddress }, to).catch(() => undefined);
  return (await readEscapes(bare.path('fabric'))).some((seen) => seen.address === address);
}

describe('network variants', { timeout: 120_000 }, () => {
  for (const { name } of NETWORK_VARIANTS) {
    it(`${name}: a pod reaches a pod of another node with its own address`, async () => {
      await using bare = await BareNetwork.build({ network: name });
      for (const family of FAMILIES) {
        assert.equal(await sourceSeen(bare, 'pod1', family), bare.podAddress(1)[family]);
      }
    });
  }

  for (const { name, dropsTransit = false } of NETWORK_VARIANTS) {
    it(`${name}: a node ${dropsTransit ? 'drops' : 'forwards'} what is not of pods`, async () => {
      await using bare = await BareNetwork.build({ network: name });
      assert.equal(await forwardsToOutside(bare), !dropsTransit);
    });
  }

  it('vxlan: a node sends to pods of another with its address on the tunnel', async () => {
    await using bare = await BareNetwork.build({ network: 'vxlan' });
    for (const family of FAMILIES) {
      assert.equal(await sourceSeen(bare, 'node1', family), tunnelAddress(1)[family]);
    }
  });

  it('vxlan: nothing gets through when outer packets are masqueraded', async () => {
    await using bare = await BareNetwork.build({ network: 'vxlan' });
    await bare.nft(
      'node1',
      `table inet fault {
      chain post {
        type nat hook postrouting priority srcnat; policy accept;
        udp dport 8472 masquerade random,fully-random
      }
    }`,
    );
    assert.equal(await sourceSeen(bare, 'pod1', 'ipv4'), undefined);
  });

  it('two-uplinks: a node sends to pods of another with its second address', async () => {
    await using bare = await BareNetwork.build({ network: 'two-uplinks' });
    for (const family of FAMILIES) {
      assert.equal(await sourceSeen(bare, 'node1', family), secondNodeAddress(1)[family]);
    }
  });
});
