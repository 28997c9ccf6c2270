import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { NodeFacts } from '../../../dataplanes/contract.ts';
import { change } from '../../../dataplanes/shared/testing/change.ts';
import type { Forwarding } from '../../../forwarding/model.ts';
import {
  connect,
  IMITATED_VERSION,
  listTables,
} from '../../../linux/iptables/testing/nft-tables.ts';
import { parseVersion } from '../../../linux/iptables/version.ts';
import { openNetlink } from '../../../linux/netlink/socket.ts';
import { enterOwnNetwork, run } from '../../../linux/netlink/testing/own-namespace.ts';
import { be16, compared, payload } from '../../../linux/nftables/listed-expressions.ts';
import { NETLINK_NETFILTER } from '../../../linux/nftables/protocol.ts';
import { xtMatch } from '../../../linux/nftables/xt-expressions.ts';
import { host16 } from '../../../linux/nftables/xt-struct.ts';
import { findAbilities } from './abilities.ts';
import { endpointChainName } from './names.ts';
import { IptablesPlane } from './plane.ts';
import { bring, Tools } from './testing/kernel.ts';
import { FACTS, frontend, INTERNAL, NOBODY, row, upstreamRows } from './testing/rows.ts';

beforeEach(enterOwnNetwork);

const PROGRAM = '/usr/sbin/xtables-nft-multi';
const ROWS = upstreamRows();
const VERSION = parseVersion(run([PROGRAM, 'iptables', '--version']))?.join('.');
const skip = VERSION === IMITATED_VERSION ? false : `iptables here is ${VERSION}`;

/** A folder with a program in the place of the real one. */
class StandIn implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'fairlead-stand-in-'));
  readonly reasons: string[] = [];

  constructor(lines: readonly string[]) {
    const program = join(this.path, 'xtables-nft-multi');
    writeFileSync(program, ['#!/bin/sh', ...lines, `exec ${PROGRAM} "$@"`, ''].join('\n'));
    chmodSync(program, 0o755);
  }

  newPlane(): IptablesPlane {
    return new IptablesPlane({
      path: this.path,
      openNetlink: () => openNetlink({ protocol: NETLINK_NETFILTER }),
      onNoNetlink: (why) => this.reasons.push(why),
    });
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true });
  }
}

const NO_RESTORE = 'case "$1" in *-restore) exit 99;; esac';
const OLDER = 'if [ "$2" = --version ]; then echo "iptables v1.8.7 (nf_tables)"; exit 0; fi';

function web(endpoints: readonly string[]): Forwarding {
  const outcomes = endpoints.length === 0 ? NOBODY : INTERNAL('cluster');
  const frontends = [frontend('cluster-ip', { address: '10.96.1.1', port: 80 }, outcomes)];
  const lists = ['cluster'] as const;
  return row({ name: 'web', lists, endpoints, frontends, affinitySeconds: 60 });
}

const FACTS_OF: Readonly<Record<string, NodeFacts>> = {
  'pods by range': FACTS,
  'pods by interface': {
    ...FACTS,
    podDetection: {
      IPv4: { by: 'interface', name: 'br0' },
      IPv6: { by: 'interface', name: 'br0' },
    },
    nodePortsOnLocalhost: false,
  },
  'pods by prefix, some node addresses': {
    ...FACTS,
    podDetection: {
      IPv4: { by: 'interface-prefix', prefix: 'veth' },
      IPv6: { by: 'interface-prefix', prefix: 'veth' },
    },
    nodePortAddresses: { IPv4: ['192.0.2.1'], IPv6: ['2001:db8::1'] },
  },
  'pods unknown': {
    ...FACTS,
    podDetection: { IPv4: undefined, IPv6: undefined },
    masqueradeMark: 0x8000_0000,
  },
};

describe('rules that are written by netlink', () => {
  const tools = new Tools('nft');
  before(() => tools.prepare());
  after(() => tools.remove());

  for (const [name, facts] of Object.entries(FACTS_OF)) {
    it(`are the objects that iptables-restore writes for their text: ${name}`, {
      skip,
    }, async () => {
      const plane = tools.newPlane();
      await plane.inspect({ facts, rows: [] }, 'everything');
      await plane.apply(ROWS.map((each) => change('absent', each)));
      const written = [await listTables('ip'), await listTables('ip6')];
      const texts = ['iptables-save', 'ip6tables-save'].map((tool) => ownOf(run([PROGRAM, tool])));
      enterOwnNetwork();
      // Rules that count must find what they count with.
      await findAbilities(() => openNetlink({ protocol: NETLINK_NETFILTER }));
      run([PROGRAM, 'iptables-restore', '--noflush'], texts[0]);
      run([PROGRAM, 'ip6tables-restore', '--noflush'], texts[1]);
      assert.ok(written.every((lines) => lines.length > 50));
      assert.deepEqual(written, [await listTables('ip'), await listTables('ip6')]);
    });
  }

  it('need no iptables-restore', async () => {
    using standIn = new StandIn([NO_RESTORE]);
    const plane = standIn.newPlane();
    await bring(plane, ROWS);
    tools.assertIs(ROWS);
    await plane.apply([change('absent', web(['10.1.0.1:80']))]);
    await plane.apply([change(web(['10.1.0.1:80']), web([]))]);
    tools.assertIs([...ROWS, web([])]);
    await plane.apply([change(web([]), undefined)]);
    tools.assertIs(ROWS);
    await plane.remove();
    assert.deepEqual(standIn.reasons, []);
  });

  it('are added and deleted in one transaction over all tables', async () => {
    using connection = connect();
    const plane = tools.newPlane();
    await bring(plane, [...ROWS, web(['10.1.0.1:80'])]);
    const first = await connection.generation();
    await plane.apply([change(web(['10.1.0.1:80']), web([]))]);
    await plane.apply([change(web([]), web(['10.1.0.1:80']))]);
    assert.equal(await connection.generation(), first + 2);
  });

  it('keep the recent lists of clients when an endpoint is added', async () => {
    const [one, two] = [web(['10.1.0.1:80']), web(['10.1.0.1:80', '10.1.0.2:80'])];
    const plane = tools.newPlane();
    await bring(plane, [one]);
    const list = `/proc/net/xt_recent/${endpointChainName(one.id, '10.1.0.1:80')}`;
    writeFileSync(list, '+192.0.2.7\n');
    await plane.apply([change(one, two)]);
    assert.match(readFileSync(list, 'latin1'), /src=192\.0\.2\.7 /);
  });
});

describe('rules that cannot be written by netlink', () => {
  const tools = new Tools('nft');
  before(() => tools.prepare());
  after(() => tools.remove());

  it('are written by the program if it is too old to read ours', async () => {
    using standIn = new StandIn([OLDER]);
    await bring(standIn.newPlane(), ROWS);
    tools.assertIs(ROWS);
    assert.match(standIn.reasons.join(), /1\.8\.7/);
  });

  it('are deleted by the program if another version encoded them differently', async () => {
    const plane = tools.newPlane();
    const served = web(['10.1.0.1:80']);
    await bring(plane, [served]);
    await writeInOldWay('nat', 'KUBE-SERVICES');
    tools.assertIs([served]);
    await plane.apply([change(served, web([]))]);
    tools.assertIs([web([])]);
  });
});

describe('a table with rules that iptables cannot read', () => {
  const tools = new Tools('nft');
  before(() => tools.prepare());
  after(() => tools.remove());

  for (const [chain, rule] of [
    ['nat POSTROUTING', 'masquerade'],
    ['filter INPUT', 'ct state established accept'],
  ] as const) {
    it(`is not treated as empty: ${rule} in ${chain}`, async () => {
      const plane = tools.newPlane();
      await bring(plane, ROWS);
      run(['nft', `add rule ip ${chain} ${rule}`]);
      const found = await listTables('ip');
      const inspected = plane.inspect({ facts: FACTS, rows: ROWS }, 'everything');
      await assert.rejects(inspected, { code: 'IPTABLES_INCOMPATIBLE' });
      await assert.rejects(tools.newPlane().remove(), { code: 'IPTABLES_INCOMPATIBLE' });
      assert.deepEqual(await listTables('ip'), found);
    });
  }

  it('has nothing to remove when it has none of our chains', async () => {
    run(['nft', 'add table ip nat']);
    run(['nft', 'add chain ip nat POSTROUTING { type nat hook postrouting priority 100 ; }']);
    run(['nft', 'add rule ip nat POSTROUTING masquerade']);
    const found = await listTables('ip');
    const plane = tools.newPlane();
    assert.deepEqual(await plane.frontends(), []);
    await plane.remove();
    assert.deepEqual(await listTables('ip'), found);
    const inspected = plane.inspect({ facts: FACTS, rows: ROWS }, 'everything');
    await assert.rejects(inspected, { code: 'IPTABLES_INCOMPATIBLE' });
  });
});

/** Without the built-in chains, which it prints whether they are there or not. */
function ownOf(saved: string): string {
  return saved.replaceAll(/^:[A-Z]+ ACCEPT .*\n/gm, '');
}

/** The first rule of a chain as iptables 1.8.7 has it: with its port in a module. */
async function writeInOldWay(tableName: string, chain: string): Promise<void> {
  using connection = connect();
  const table = { family: 'ip', name: tableName } as const;
  const [first] = await connection.listedRules({ table, chain });
  assert.ok(first);
  const port = 80;
  const native = payload('transport', { offset: 2, length: 2 }) + compared('equal', be16(port));
  assert.ok(first.expressions.includes(native));
  const ports = host16(0) + host16(0xffff) + host16(port) + host16(port);
  const module = xtMatch({ name: 'tcp', revision: 0, byteLength: 16 })(ports);
  const expressions = first.expressions.replace(native, module);
  const batch = connection.begin();
  batch.deleteRule(table, { chain, handle: first.handle });
  batch.addListedRule(table, { chain, expressions, protocol: 6, place: 'first' });
  await connection.commit(batch);
}
