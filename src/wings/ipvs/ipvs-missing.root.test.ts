import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { describe, test } from 'node:test';
import { enterOwnNetwork } from '../../linux/netlink/testing/own-namespace.ts';
import { NFTABLES } from '../../modes/nftables.ts';
import { prepareIpvs } from './ipvs-part.ts';
import { WholeIpvs } from './testing/whole-ipvs.ts';

const WITH_IPVS = existsSync('/proc/net/ip_vs') ? 'the kernel has IPVS' : false;

describe('mode ipvs on a kernel without IPVS', { skip: WITH_IPVS }, () => {
  test('falls back to nftables, and says so', async () => {
    enterOwnNetwork();
    await prepareIpvs({ setSysctl: () => assert.fail('sets what does not exist') });
    await using mode = new WholeIpvs();
    await mode.start([]);
    assert.match(
      mode.warnings.join(),
      /ipvs cannot be used; falling back to nftables: .*IPVS_MISSING/,
    );
    const attachments = (await mode.plane.read('attachments')) ?? [];
    assert.deepEqual(
      attachments.filter(({ isAttached }) => !isAttached).map(({ name }) => name),
      ['virtual servers'],
    );
    assert.deepEqual(await mode.plane.read('counters'), []);
    await mode.plane.remove();
    await NFTABLES.open({}).plane.remove();
  });
});
