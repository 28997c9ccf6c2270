import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, it } from 'node:test';
import { type Netlink, openNetlink } from '../netlink/socket.ts';
import { enterOwnNetwork, run } from '../netlink/testing/own-namespace.ts';
import { NftConnection, NftRefusal } from '../nftables/connection.ts';
import { NETLINK_NETFILTER, type TableFamily } from '../nftables/protocol.ts';
import { NftTablesWriter } from './nft-writer.ts';
import type { TableOperation, TableOperations } from './table-operations.ts';
import { connect, IMITATED_VERSION, listTables } from './testing/nft-tables.ts';
import { parseVersion } from './version.ts';

beforeEach(enterOwnNetwork);

const PROGRAM = 'xtables-nft-multi';
const VERSION = parseVersion(run([PROGRAM, 'iptables', '--version']))?.join('.');
const skip = VERSION === IMITATED_VERSION ? false : `iptables here is ${VERSION}`;

const SIDES = {
  ip: { tool: 'iptables', net: '10.1', host: '10.96.0.1', full: '255.255.255.255' },
  ip6: {
    tool: 'ip6tables',
    net: 'fd00:1',
    host: 'fd00:96::1',
    full: 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  },
} as const;

/** Every form that is known, and numbers at the ends of their ranges. */
function rulesOf(family: TableFamily): { nat: string[]; filter: string[] } {
  const { host, full } = SIDES[family];
  const isFour = family === 'ip';
  const bits = isFour ? 32 : 128;
  const prefixes = isFour ? [1, 7, 8, 9, 16, 23, 24, 31] : [1, 8, 17, 32, 63, 64, 127];
  const network = (prefix: number) =>
    isFour ? `${prefix > 7 ? '10' : '128'}.0.0.0/${prefix}` : `8000::/${prefix}`;
  const to = (port: number) => (isFour ? `${host}:${port}` : `[${host}]:${port}`);
  const counts = [2, 3, 4, 5, 6, 7, 10, 97, 1000, 4999];
  const kept = (count: number) =>
    (Math.round(Number((1 / count).toFixed(10)) * 2 ** 31) / 2 ** 31).toFixed(11);
  const nat = [
    ...prefixes.flatMap((prefix) => [
      `-s ${network(prefix)} -j ACCEPT`,
      `! -d ${network(prefix)} -m comment --comment "a range" -j RETURN`,
    ]),
    `-s ${host}/${bits} -d ${host}/${bits} -i eth0 -p tcp -j OTHER`,
    `! -s ${host}/${bits} ! -i veth+ -j OTHER`,
    '-i fifteen-letters -j OTHER',
    '-m comment --comment "only counts"',
    `-m comment --comment "${'y'.repeat(254)} " -j OTHER`,
    '-p tcp -m tcp --dport 1 -j OTHER',
    '-p udp -m udp --dport 65535 -j OTHER',
    '-p sctp -m sctp --dport 443 -j OTHER',
    ...['tcp', 'udp', 'sctp'].map((protocol) => `-p ${protocol} -m ${protocol} -j OTHER`),
    '-m addrtype --src-type LOCAL -j OTHER',
    '-m addrtype --dst-type LOCAL -j OTHER',
    '-m mark --mark 0x4000/0x4000 -j OTHER',
    '-m mark ! --mark 0x80000000/0xfffffff0 -j OTHER',
    ...counts.map((n) => `-m statistic --mode random --probability ${kept(n)} -j OTHER`),
    ...['LIST', 'A-LONGER-LIST'].map(
      (name) => `-p tcp -m recent --set --name ${name} --mask ${full} --rsource`,
    ),
    ...[1, 10800, 86400].map(
      (seconds) =>
        `-m recent --rcheck --seconds ${seconds} --reap --name LIST --mask ${full} --rsource -j OTHER`,
    ),
    '-j MARK --set-xmark 0x4000/0x4000',
    '-j MARK --set-xmark 0x80000001/0x0',
    '-j MASQUERADE',
    '-j MASQUERADE --random-fully',
    `-p tcp -m tcp -j DNAT --to-destination ${to(1)}`,
    `-p udp -m udp -j DNAT --to-destination ${to(65535)}`,
    `-j DNAT --to-destination ${host}`,
  ];
  const filter = [
    ...['NEW', 'INVALID', 'RELATED,ESTABLISHED'].map(
      (states) => `-m conntrack --ctstate ${states} -j DROP`,
    ),
    '-m conntrack ! --ctstate RELATED,ESTABLISHED,SNAT,DNAT -j ACCEPT',
    `-p tcp -j REJECT --reject-with ${isFour ? 'icmp' : 'icmp6'}-port-unreachable`,
  ];
  return { nat, filter };
}

const append = (chain: string, rule: string): TableOperation => ({
  kind: 'append',
  chain,
  rule,
  owner: undefined,
});
const fill = (chain: string): TableOperation => ({ kind: 'fill', chain, owner: undefined });

function operationsOf(family: TableFamily): TableOperations[] {
  const { nat, filter } = rulesOf(family);
  return [
    {
      table: 'nat',
      operations: [
        fill('MINE'),
        fill('OTHER'),
        ...nat.map((rule) => append('MINE', rule)),
        ...['PREROUTING', 'INPUT', 'OUTPUT', 'POSTROUTING'].map((chain) =>
          append(chain, '-j OTHER'),
        ),
      ],
    },
    {
      table: 'filter',
      operations: [
        fill('MINE'),
        ...filter.map((rule) => append('MINE', rule)),
        ...['INPUT', 'FORWARD', 'OUTPUT'].map((chain) => append(chain, '-j MINE')),
      ],
    },
  ];
}

const MINE: TableOperations = { table: 'nat', operations: [fill('MINE')] };

for (const family of ['ip', 'ip6'] as const) {
  const save = () => run([PROGRAM, `${SIDES[family].tool}-save`]);

  describe(`tables of ${family} that are written without the program`, () => {
    it('are byte for byte what the program writes for the same text', { skip }, async () => {
      using connection = connect();
      assert.ok(await new NftTablesWriter(connection, family).write(operationsOf(family)));
      const [written, text] = [await listTables(family), save()];
      enterOwnNetwork();
      run([PROGRAM, `${SIDES[family].tool}-restore`], text);
      assert.deepEqual(written, await listTables(family));
      assert.equal(withoutTimes(save()), withoutTimes(text));
    });

    it('are printed by the program as the text that they were written from', async () => {
      using connection = connect();
      const changes = operationsOf(family);
      assert.ok(await new NftTablesWriter(connection, family).write(changes));
      const printed = save().replaceAll(/ {2,}/g, ' ').split('\n');
      for (const { operations } of changes) {
        for (const each of operations) {
          if (each.kind === 'append')
            assert.ok(printed.includes(`-A ${each.chain} ${each.rule}`), each.rule);
        }
      }
    });
  });
}

/** Lets another process change something between the listing and the write. */
class Interrupted implements Netlink {
  readonly #inner = openNetlink({ protocol: NETLINK_NETFILTER });
  readonly #meanwhile: (() => void)[];
  readonly portId = this.#inner.portId;

  constructor(meanwhile: readonly (() => void)[]) {
    this.#meanwhile = [...meanwhile];
  }

  async send(bytes: Buffer): Promise<void> {
    const isBatch = bytes.readUInt16LE(4) === 0x10;
    if (isBatch) this.#meanwhile.shift()?.();
    await this.#inner.send(bytes);
  }

  receive() {
    return this.#inner.receive();
  }

  listen(...args: Parameters<Netlink['listen']>) {
    return this.#inner.listen(...args);
  }

  [Symbol.dispose](): void {
    this.#inner[Symbol.dispose]();
  }
}

describe('deleting a rule', () => {
  const rule = '-d 10.0.0.1/32 -p tcp -m comment --comment "one rule" -m tcp --dport 80 -j RETURN';
  const deletion: TableOperations = {
    table: 'nat',
    operations: [{ kind: 'delete', chain: 'MINE', rule, owner: 'row' }],
  };
  const iptables = (...args: readonly string[]) => run([PROGRAM, 'iptables', '-t', 'nat', ...args]);
  const list = () => iptables('-S', 'MINE').trim().split('\n').slice(1);

  it('deletes one of several that are equal, and keeps the order of the others', async () => {
    using connection = connect();
    const writer = new NftTablesWriter(connection, 'ip');
    await writer.write([{ table: 'nat', operations: [fill('MINE'), append('MINE', rule)] }]);
    iptables('-A', 'MINE', '-j', 'ACCEPT');
    await writer.write([{ table: 'nat', operations: [append('MINE', rule)] }]);
    assert.ok(await writer.write([deletion]));
    assert.deepEqual(list(), ['-A MINE -j ACCEPT', `-A MINE ${rule}`]);
  });

  it('deletes two of several that are equal if it is listed twice', async () => {
    using connection = connect();
    const writer = new NftTablesWriter(connection, 'ip');
    const same = [rule, rule, rule].map((each) => append('MINE', each));
    await writer.write([{ table: 'nat', operations: [fill('MINE'), ...same] }]);
    const again = deletion.operations.map((operation) => ({ ...operation }));
    assert.ok(await writer.write([deletion, { table: 'nat', operations: again }]));
    assert.deepEqual(list(), [`-A MINE ${rule}`]);
  });

  for (const [what, counting] of [
    ['leads somewhere', rule],
    ['leads nowhere', '-p tcp -m comment --comment "only counts"'],
  ] as const) {
    it(`finds it although it has counted, and ${what}`, async () => {
      const lines = ['*nat', ':MINE - [0:0]', `[5:300] -A MINE ${counting}`, 'COMMIT', ''];
      run([PROGRAM, 'iptables-restore', '--noflush', '-c'], lines.join('\n'));
      using connection = connect();
      const operations = [
        { kind: 'delete', chain: 'MINE', rule: counting, owner: undefined },
      ] as const;
      assert.match(run([PROGRAM, 'iptables-save', '-c', '-t', 'nat']), /\[5:300\] -A MINE/);
      const writer = new NftTablesWriter(connection, 'ip');
      assert.ok(await writer.write([{ table: 'nat', operations }]));
      assert.deepEqual(list(), []);
    });
  }

  it('searches again when another process has recreated it', async () => {
    const again = () => {
      iptables('-F', 'MINE');
      run([PROGRAM, 'iptables-restore', '--noflush'], `*nat\n-A MINE ${rule}\nCOMMIT\n`);
    };
    const nothing = () => undefined;
    using connection = new NftConnection(new Interrupted([nothing, again, again]));
    const writer = new NftTablesWriter(connection, 'ip');
    await writer.write([{ table: 'nat', operations: [fill('MINE'), append('MINE', rule)] }]);
    assert.ok(await writer.write([deletion]));
    assert.deepEqual(list(), []);
  });

  it('leaves a missing rule to the program, with all other changes of the call', async () => {
    using connection = connect();
    const writer = new NftTablesWriter(connection, 'ip');
    await writer.write([MINE]);
    const more = { table: 'nat', operations: [append('MINE', '-j ACCEPT')] } as const;
    assert.equal(await writer.write([more, deletion]), false);
    assert.deepEqual(list(), []);
  });
});

describe('a write', () => {
  it('is one transaction for all tables', async () => {
    using connection = connect();
    const before = await connection.generation();
    await new NftTablesWriter(connection, 'ip').write(operationsOf('ip'));
    assert.equal(await connection.generation(), before + 1);
  });

  it('keeps the recent list of the rule that it replaces', async () => {
    using connection = connect();
    const writer = new NftTablesWriter(connection, 'ip');
    const remember = '-m recent --set --name LIST --mask 255.255.255.255 --rsource';
    const operations = [fill('MINE'), append('MINE', remember)];
    await writer.write([{ table: 'nat', operations }]);
    writeFileSync('/proc/net/xt_recent/LIST', '+192.0.2.7\n');
    await writer.write([{ table: 'nat', operations }]);
    assert.match(readFileSync('/proc/net/xt_recent/LIST', 'latin1'), /src=192\.0\.2\.7 /);
  });

  it('keeps the policy that another process set on a built-in chain', async () => {
    run([PROGRAM, 'iptables', '-P', 'FORWARD', 'DROP']);
    using connection = connect();
    await new NftTablesWriter(connection, 'ip').write(operationsOf('ip'));
    assert.match(
      run([PROGRAM, 'iptables', '-S', 'FORWARD']),
      /^-P FORWARD DROP\n-A FORWARD -j MINE/,
    );
  });

  it('is rejected for the owner whose chain does not exist', async () => {
    using connection = connect();
    const operations = [
      fill('MINE'),
      { ...append('MINE', '-j ACCEPT'), owner: 'good' },
      { ...append('MINE', '-j NOWHERE'), owner: 'bad' },
    ];
    const written = new NftTablesWriter(connection, 'ip').write([{ table: 'nat', operations }]);
    await assert.rejects(written, (error) => {
      assert.ok(error instanceof NftRefusal);
      assert.equal(error.owner, 'bad');
      return true;
    });
    assert.doesNotMatch(run([PROGRAM, 'iptables-save']), /MINE/);
  });
});

function withoutTimes(text: string): string {
  return text.replaceAll(/^#.*$/gm, '');
}
