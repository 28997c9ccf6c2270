import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { enterNamespace, ipBatch } from '../host/namespaces.ts';
import { silentProgress } from '../host/progress.ts';
import { run } from '../host/run.ts';
import { provideBench } from './bench.ts';

const RULES = `
table ip example {
  counter refused { }
  map frontends {
    type ipv4_addr . inet_proto . inet_service : verdict
    elements = { 10.0.0.1 . tcp . 80 : goto one, 10.0.0.2 . udp . 53 : drop }
  }
  set ranges {
    type ipv4_addr
    flags interval
    elements = { 10.8.0.0/16, 192.168.0.0/24 }
  }
  set counted {
    type ipv4_addr
    counter
    elements = { 10.9.0.1, 10.9.0.2 }
  }
  chain one {
    counter name refused
    dnat to numgen random mod 2 map { 0 : 10.1.0.1, 1 : 10.1.0.2 }
  }
  chain prerouting {
    type nat hook prerouting priority -100;
    ip daddr . meta l4proto . th dport vmap @frontends
    ip saddr @ranges accept
  }
}
`;

const IPTABLES = `*nat
:KUBE-SERVICES - [0:0]
:KUBE-SEP-A - [0:0]
-A PREROUTING -j KUBE-SERVICES
-A KUBE-SERVICES -d 10.0.0.3/32 -p tcp -m comment --comment "a/b" -m tcp --dport 80 -j KUBE-SEP-A
-A KUBE-SEP-A -s 10.1.0.3/32 -j MARK --set-xmark 0x4000/0x4000
-A KUBE-SEP-A -p tcp -m statistic --mode random --probability 0.5 -m tcp -j DNAT --to-destination 10.1.0.3:8080
COMMIT
`;

describe('bench copy', () => {
  const names = ['from', 'to'].map((role) => `bench-${role}-${process.pid}`);
  const [from = '', to = ''] = names.map((name) => `/run/netns/${name}`);
  const listed = async (path: string, argv: [string, ...string[]]): Promise<string> =>
    (await run(enterNamespace(path, argv))).replaceAll(/^#.*\n/gm, '');

  before(() => ipBatch(names.map((name) => `netns add ${name}`)));
  after(() => ipBatch(names.map((name) => `netns delete ${name}`)));

  it('writes the same rules, of nft and of iptables, into another network', async () => {
    const program = await provideBench({ progress: silentProgress });
    await run(enterNamespace(from, ['nft', '-f', '-']), { input: RULES });
    await run(enterNamespace(from, ['xtables-nft-multi', 'iptables-restore']), { input: IPTABLES });
    const copied = JSON.parse(await run([program, 'copy', `--from=${from}`, `--to=${to}`])) as {
      messages: number;
    };
    assert.ok(copied.messages > 10);
    const save: [string, ...string[]] = ['xtables-nft-multi', 'iptables-save'];
    assert.match(await listed(from, save), /--to-destination 10\.1\.0\.3:8080/);
    assert.equal(await listed(to, save), await listed(from, save));
    const table: [string, ...string[]] = ['nft', 'list', 'table', 'ip', 'example'];
    const expected = await listed(from, table);
    const found = await listed(to, table);
    for (const line of expected.split('\n')) {
      // A set without a name has one in the copy: what is in it stands elsewhere.
      if (line.includes('numgen')) assert.match(found, /elements = \{ 0 : 10\.1\.0\.1, 1 : 10/);
      else assert.ok(found.includes(line.trim()), line);
    }
  });
});
