import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Forwarding } from '../../forwarding/model.ts';
import { ipvsadmLines, WITHOUT_IPVS } from '../../linux/ipvs/testing/load-ipvs.ts';
import { run } from '../../linux/netlink/testing/own-namespace.ts';
import { NFTABLES } from '../../modes/nftables.ts';
import { until } from '../../time/testing/until.ts';
import { IPVS_PART } from './ipvs-part.ts';
import {
  assertAllServed,
  clusterIp,
  type IpvsSite,
  ipvsSite,
  service,
  WholeIpvs,
} from './testing/whole-ipvs.ts';

const KEPT = { transport: 'TCP', address: '10.96.0.10', port: 80, timeoutMs: 20_000 } as const;
const GONE = '10.96.0.11';
/** Of another process: one at the address of a Service, one elsewhere. */
const FOREIGN = [
  '-A -t 10.96.0.12:80 -s wlc',
  '-A -t 198.51.100.1:80 -s rr',
  '-a -t 10.96.0.12:80 -r 10.244.9.9:8080 -m -w 1',
];

describe('mode ipvs after a flush of all tables', { skip: WITHOUT_IPVS }, () => {
  let site: IpvsSite;

  before(async () => {
    site = await ipvsSite();
  });

  afterEach(async () => {
    await IPVS_PART.open({}).remove();
    await NFTABLES.open({}).plane.remove();
    run(['ipvsadm', '-C']);
  });

  after(() => site.leave());

  const at = (name: string, address: string): Forwarding =>
    service(name, [clusterIp(address)], { hosts: [...site.endpoints] });

  /** The agent is down while another process flushes. */
  async function flushed(): Promise<void> {
    run(['ipvsadm', '-R'], `${FOREIGN.join('\n')}\n`);
    await using mode = new WholeIpvs();
    await mode.start([at('kept', KEPT.address), at('gone', GONE), at('foreign', '10.96.0.12')]);
    assert.equal((await mode.report())?.virtualServers, 2);
    run(['nft', 'flush', 'ruleset']);
  }

  test('owns its virtual servers again, and leaves those of other processes alone', async () => {
    await flushed();
    await using again = new WholeIpvs();
    await again.start([at('kept', KEPT.address), at('foreign', '10.96.0.12')]);
    const report = await again.report();
    assert.equal(report?.schedulers[0]?.virtualServers, report?.virtualServers);
    assert.match(again.warnings.join(), /10\.96\.0\.12 TCP 80 is of another process/);
    assert.doesNotMatch(again.warnings.join(), /10\.96\.0\.1[01] /);
    assertAllServed(await site.client.ask({ ...KEPT, count: 6 }));
    await until('the virtual server without a Service is deleted', () =>
      ipvsadmLines().every((line) => !line.includes(`${GONE}:80`)),
    );
    const others = ipvsadmLines().filter((line) => !line.includes(`${KEPT.address}:80`));
    assert.deepEqual(others, FOREIGN);
    assert.equal((await again.report())?.virtualServers, 1);
  });

  test('removes them at a cleanup', async () => {
    await flushed();
    const plane = IPVS_PART.open({});
    const [first] = (await plane.read('inventory')) ?? [];
    assert.deepEqual(first, { what: 'virtual servers', count: 2 });
    await plane.remove();
    assert.deepEqual(ipvsadmLines(), FOREIGN);
    assert.deepEqual(await plane.read('inventory'), []);
  });

  test('retires them for another mode', async () => {
    await flushed();
    assert.equal(await IPVS_PART.open({}).retire?.(), 'removed');
    assert.deepEqual(ipvsadmLines(), FOREIGN);
    assert.deepEqual(await IPVS_PART.open({}).read('inventory'), []);
  });

  for (const how of ['remove', 'retire'] as const) {
    test(`${how}s routing rules that are left without virtual servers`, async () => {
      {
        await using mode = new WholeIpvs();
        await mode.start([]);
      }
      run(['nft', 'flush', 'ruleset']);
      const plane = IPVS_PART.open({});
      assert.match(JSON.stringify(await plane.read('inventory')), /routing rules/);
      await plane[how]?.();
      assert.deepEqual(await plane.read('inventory'), []);
    });
  }
});
