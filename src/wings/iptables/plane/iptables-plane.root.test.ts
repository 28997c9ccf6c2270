import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { type Applied, PlaneError, type RowChange } from '../../../dataplanes/contract.ts';
import { change } from '../../../dataplanes/shared/testing/plane-change.ts';
import type { Forwarding } from '../../../forwarding/model.ts';
import { enterOwnNetwork, run } from '../../../linux/netlink/testing/own-namespace.ts';
import { BACKENDS } from '../../../linux/xtables/iptables-programs.ts';
import { rowChainNames } from './chain-names.ts';
import { ALL_JUMPS } from './iptables-fixed-parts.ts';
import { IptablesPlane } from './iptables-plane.ts';
import { bring, openNetfilter, Tools } from './testing/bring-iptables.ts';
import {
  EXTERNAL,
  FACTS,
  frontend,
  INTERNAL,
  NOBODY,
  row,
  upstreamRows,
} from './testing/iptables-rows.ts';

// A new one for each test, so that none meets what another has made.
beforeEach(enterOwnNetwork);

const ROWS = upstreamRows();
const STEPS = 12;

function web(number: number, endpoints: readonly string[]): Forwarding {
  const isServed = endpoints.length > 0;
  return row({
    name: `web${number}`,
    lists: ['cluster'],
    endpoints,
    frontends: [
      frontend(
        'cluster-ip',
        { address: `10.96.1.${number}`, port: 80 },
        isServed ? INTERNAL('cluster') : NOBODY,
      ),
      frontend('node-port', { port: 31000 + number }, isServed ? EXTERNAL : NOBODY),
    ],
  });
}

/** A Service of few names with some endpoints, or none, or no Service at all. */
const states = fc.array(
  fc.option(fc.uniqueArray(fc.constantFrom('10.1.0.1:80', '10.1.0.2:80', '10.1.0.3:80'))),
  { minLength: 4, maxLength: 4 },
);

for (const backend of BACKENDS) {
  const tools = new Tools(backend);

  describe(`the iptables plane on ${backend}`, () => {
    before(() => {
      tools.prepare();
    });
    after(() => tools.remove());

    it('writes what it renders, and reads it back', async () => {
      const first = await bring(tools.newPlane(), ROWS);
      assert.equal(first.right.size, 0);
      tools.assertIs(ROWS);
      const second = await bring(tools.newPlane(), ROWS);
      assert.equal(second.right.size, ROWS.length);
      assert.deepEqual([second.differenceCount, second.writeCount], [0, 0]);
    });

    it('knows without a program whether anything of it is there', async () => {
      const withoutPrograms = () =>
        new IptablesPlane({ path: '/nonexistent', openNetlink: openNetfilter });
      const absent = async () => await withoutPrograms().isAbsent();
      assert.equal(await absent(), true);
      assert.deepEqual(await withoutPrograms().read('frontends'), []);
      assert.equal(await withoutPrograms().retire(), 'removed');
      await bring(tools.newPlane(), ROWS);
      assert.equal(await absent(), false);
      await tools.newPlane().remove();
      // An empty table of the legacy program may have been anything.
      assert.equal(await absent(), backend === 'nft');
    });

    it('follows changes in any order', async () => {
      const plane = tools.newPlane();
      await bring(plane, []);
      let old = new Map<number, Forwarding>();
      for (const state of fc.sample(states, { numRuns: STEPS, seed: 7 })) {
        const now = new Map<number, Forwarding>();
        for (const [number, endpoints] of state.entries()) {
          if (endpoints) now.set(number, web(number, endpoints.toSorted()));
        }
        const changes = state.map((_, number) => [old.get(number), now.get(number)] as const);
        await plane.apply(
          changes.filter(([a, b]) => a ?? b).map(([was, is]) => change(was ?? 'absent', is)),
        );
        old = now;
        tools.assertIs([...now.values()]);
      }
      // A full read finds as many rules as were counted on the way.
      const reader = tools.newPlane();
      await bring(reader, [...old.values()]);
      const totals = (counted: typeof plane) => counted.ruleCounts().map(({ total }) => total);
      assert.deepEqual(totals(plane), totals(reader));
    });

    it('reports whether packets reach its chains', async () => {
      const plane = tools.newPlane();
      await bring(plane, ROWS);
      const missing = async (): Promise<string[]> =>
        (await plane.attachments()).flatMap((each) => (each.isAttached ? [] : [each.name]));
      assert.equal((await plane.attachments()).length, 4);
      assert.deepEqual(await missing(), []);
      tools.iptables('-t', 'nat', '-F', 'PREROUTING');
      assert.deepEqual(await missing(), ['IPv4 nat PREROUTING']);
      await bring(plane, ROWS);
      assert.deepEqual(await missing(), []);
    });

    it('repairs what is wrong, and deletes what belongs to no row', async () => {
      const plane = tools.newPlane();
      const earlier = [web(1, ['10.1.0.1:80', '10.1.0.2:80']), web(2, ['10.1.0.1:80']), web(3, [])];
      await bring(plane, earlier);
      tools.iptables('-t', 'nat', '-N', 'KUBE-SVC-STRAY');
      tools.iptables('-t', 'nat', '-I', 'KUBE-SERVICES', '-d', '10.96.9.9', '-j', 'KUBE-SVC-STRAY');
      tools.iptables('-t', 'nat', '-A', 'KUBE-SERVICES', '-d', '10.96.9.8', '-j', 'RETURN');
      tools.iptables('-t', 'filter', '-D', 'INPUT', '-j', 'KUBE-FIREWALL');
      tools.iptables('-t', 'filter', '-F', 'KUBE-FORWARD');
      tools.iptables('-t', 'mangle', '-X', 'KUBE-PROXY-CANARY');
      tools.iptables('-t', 'nat', '-D', 'KUBE-NODEPORTS', '1');
      const rows = [web(1, ['10.1.0.3:80']), web(3, ['10.1.0.1:80']), web(4, [])];
      const inspection = await bring(tools.newPlane(), rows);
      assert.ok(inspection.differenceCount > 0);
      tools.assertIs(rows);
    });

    it('deletes what belongs to no row where that is most of a chain', async () => {
      const all = Array.from({ length: 130 }, (_, index) => web(index + 1, ['10.1.0.1:80']));
      await bring(tools.newPlane(), all);
      const rows = all.slice(0, 10);
      await bring(tools.newPlane(), [...rows, web(140, ['10.1.0.2:80'])]);
      tools.assertIs([...rows, web(140, ['10.1.0.2:80'])]);
    });

    it('writes what it can while another process jumps to a chain that must be deleted', async () => {
      const old = web(2, ['10.1.0.1:80']);
      await bring(tools.newPlane(), [web(1, ['10.1.0.1:80']), old]);
      const { cluster } = rowChainNames(old.id);
      const theirs = ['OUTPUT', '-d', '192.0.2.9', '-j', cluster];
      tools.iptables('-t', 'nat', '-A', ...theirs);
      const rows = [web(1, ['10.1.0.2:80']), web(3, ['10.1.0.1:80'])];
      const { differences } = await bring(tools.newPlane(), rows);
      assert.ok(
        differences.some(({ kind, object }) => kind === 'foreign' && object.includes(cluster)),
      );
      const plane = tools.newPlane();
      const { right } = await bring(plane, rows);
      assert.equal(right.size, rows.length, 'all that is wanted is there');
      assert.match(tools.iptables('-t', 'nat', '-S', cluster), /KUBE-SEP-/, 'and works for them');
      tools.iptables('-t', 'nat', '-D', ...theirs);
      await bring(plane, rows);
      tools.assertIs(rows);
    });

    it('removes what it can while another process jumps to a chain of ours', async () => {
      const plane = tools.newPlane();
      const [used, other] = [web(1, ['10.1.0.1:80']), web(2, ['10.1.0.1:80'])];
      await bring(plane, [used, other]);
      const { cluster } = rowChainNames(used.id);
      const theirs = ['OUTPUT', '-d', '192.0.2.9', '-j', cluster];
      tools.iptables('-t', 'nat', '-A', ...theirs);
      await assert.rejects(plane.remove(), { code: 'IPTABLES_REFUSED' });
      const left = tools.iptables('-t', 'nat', '-S');
      assert.match(left, new RegExp(`-N ${cluster}`));
      assert.doesNotMatch(left, new RegExp(`KUBE-SERVICES|${rowChainNames(other.id).cluster}`));
      tools.iptables('-t', 'nat', '-D', ...theirs);
      await plane.remove();
      assert.doesNotMatch(tools.iptables('-t', 'nat', '-S'), /KUBE-/);
    });

    it('names the rejected row, and the rows that the kernel has in part', async () => {
      const plane = tools.newPlane();
      await bring(plane, [web(1, [])]);
      const bad = web(2, ['10.1.0.300:80']);
      const changes = [
        change(web(1, []), web(1, ['10.1.0.1:80'])),
        change('absent', bad),
        change('absent', web(3, [])),
      ];
      let unknown: ReadonlySet<string> = new Set();
      await assert.rejects(plane.apply(changes), (error) => {
        assert.ok(error instanceof PlaneError);
        assert.deepEqual([error.code, error.culprit], ['IPTABLES_REFUSED', 't/web2/TCP/IPv4']);
        unknown = error.unknown ?? unknown;
        return true;
      });
      const rest = changes.filter(({ after }) => after !== bad);
      const beforeOf = ({ key, before }: RowChange): Applied =>
        unknown.has(key) ? 'unknown' : before;
      await plane.apply(rest.map((each) => ({ ...each, before: beforeOf(each) })));
      const rows = [web(1, ['10.1.0.1:80']), web(3, [])];
      tools.assertIs(rows);
      const other = tools.newPlane();
      await bring(other, rows);
      const totals = (counted: IptablesPlane) => counted.ruleCounts().map(({ total }) => total);
      assert.deepEqual(totals(plane), totals(other));
    });

    it('rejects changes before the first inspection', async () => {
      await assert.rejects(tools.newPlane().apply([]), { code: 'IPTABLES_NOT_INSPECTED' });
    });

    it('names the rows of the family that was written when the other family is rejected', async () => {
      const plane = tools.newPlane();
      await bring(plane, []);
      const good = web(1, ['10.1.0.1:80']);
      const other = web(2, ['10.1.0.2:80']);
      const bad = { ...other, id: { ...other.id, family: 'IPv6' as const } };
      await assert.rejects(
        plane.apply([change('absent', good), change('absent', bad)]),
        (error) => {
          assert.ok(error instanceof PlaneError);
          assert.ok(error.unknown?.has('t/web1/TCP/IPv4'));
          return true;
        },
      );
      await plane.apply([change('unknown', good)]);
      tools.assertIs([good]);
    });

    it('applies new facts', async () => {
      const plane = tools.newPlane();
      await bring(plane, ROWS);
      const facts = { ...FACTS, nodePortAddresses: { IPv4: ['192.0.2.1'], IPv6: 'all' as const } };
      await plane.configure(facts);
      const { differenceCount, right } = await plane.inspect({ facts, rows: ROWS }, 'everything');
      assert.deepEqual([differenceCount, right.size], [0, ROWS.length]);
      await plane.configure(FACTS);
      tools.assertIs(ROWS);
    });

    it('jumps to its chains for some clients only, and follows when they change', async () => {
      const plane = tools.newPlane();
      await bring(plane, ROWS);
      for (const clientInterfaces of [[], ['br-*', 'docker0'], ['docker0']]) {
        const facts = { ...FACTS, clientInterfaces };
        await plane.configure(facts);
        assert.deepEqual(await tools.newPlane().diff({ facts, rows: ROWS }), []);
        const ways = tools.iptables('-t', 'nat', '-S', 'PREROUTING').match(/ -i \S+/g) ?? [];
        const names = clientInterfaces.map((name) => ` -i ${name.replace('*', '+')}`);
        assert.deepEqual(ways.sort(), names);
      }
      await plane.configure(FACTS);
      assert.deepEqual(await tools.newPlane().diff({ facts: FACTS, rows: ROWS }), []);
      assert.doesNotMatch(tools.save('IPv4'), / -i docker0/);
    });

    it('removes what an earlier process wrote for clients that are not served', async () => {
      await bring(tools.newPlane(), ROWS);
      const desired = { facts: { ...FACTS, clientInterfaces: [] }, rows: ROWS };
      const plane = tools.newPlane();
      const { differences, right } = await plane.inspect(desired, 'everything');
      assert.equal(right.size, ROWS.length);
      assert.ok(
        differences.some(({ kind, object }) => kind === 'foreign' && /PREROUTING/.test(object)),
      );
      assert.doesNotMatch(tools.iptables('-t', 'nat', '-S', 'PREROUTING'), /KUBE-/);
      assert.doesNotMatch(tools.iptables('-S', 'FORWARD'), /KUBE-/);
      assert.deepEqual(await plane.diff(desired), []);
    });

    it('removes the jumps for clients by interface', async () => {
      const plane = tools.newPlane();
      await bring(plane, ROWS);
      await plane.configure({ ...FACTS, clientInterfaces: ['docker0'] });
      const held = await plane.inventory();
      assert.deepEqual(
        held.map(({ what }) => what),
        ['chains', 'rules'],
      );
      await plane.remove();
      assert.deepEqual(await plane.inventory(), []);
      assert.doesNotMatch(tools.iptables('-t', 'nat', '-S'), /KUBE-/);
    });

    it('reports what is translated, and the counters', async () => {
      const plane = tools.newPlane();
      await bring(plane, [web(1, ['10.1.0.1:80'])]);
      assert.deepEqual(await plane.frontends(), [
        { protocol: 'TCP', address: '10.96.1.1', port: 80 },
        { protocol: 'TCP', port: 31001 },
      ]);
      const [count] = await plane.counters();
      assert.deepEqual(count, {
        service: 't/web1/TCP/IPv4',
        endpoint: '10.1.0.1:80',
        connections: 0,
        bytes: 0,
      });
    });

    it('removes duplicate jumps to its chains', async () => {
      const plane = tools.newPlane();
      await bring(plane, [web(1, ['10.1.0.1:80'])]);
      const { rule } = ALL_JUMPS.find(({ chain }) => chain === 'PREROUTING') ?? { rule: '' };
      const comment = /"(.*)"/.exec(rule)?.[1] ?? '';
      const again = ['-m', 'comment', '--comment', comment, '-j', 'KUBE-SERVICES'];
      tools.iptables('-t', 'nat', '-A', 'PREROUTING', ...again);
      await plane.remove();
      assert.doesNotMatch(tools.iptables('-t', 'nat', '-S'), /KUBE-/);
    });

    it('leaves nothing behind but what the kubelet has too', async () => {
      const plane = tools.newPlane();
      await bring(plane, ROWS);
      await plane.remove();
      const left = tools.save('IPv4').match(/^(:|-A).*KUBE-\S+/gm) ?? [];
      assert.ok(
        left.every((line) => line.includes('KUBE-FIREWALL')),
        left.join('\n'),
      );
      assert.deepEqual(await plane.frontends(), []);
    });
  });
}

it('takes chains of the kubelet for nothing of its own', async () => {
  const program = '/usr/sbin/xtables-nft-multi';
  for (const tool of ['iptables', 'ip6tables']) {
    run([program, tool, '-t', 'mangle', '-N', 'KUBE-KUBELET-CANARY']);
    run([program, tool, '-t', 'mangle', '-N', 'KUBE-IPTABLES-HINT']);
    run([program, tool, '-t', 'filter', '-N', 'KUBE-FIREWALL']);
  }
  const plane = new IptablesPlane({ path: '/nonexistent', openNetlink: openNetfilter });
  assert.equal(await plane.isAbsent(), true);
});
