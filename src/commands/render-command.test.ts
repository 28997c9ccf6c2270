import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { NEEDS_WINGS } from '../wings/testing/needs-wings.ts';
import { runProgram } from './program.ts';
import { renderCommand } from './render-command.ts';

const SHOP = join(import.meta.dirname, 'render/testdata/shop.yaml');

const ABOUT = `from ${SHOP}`;

interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `fairlead render -f shop.yaml --node node1 …` in this process. */
async function run(context: TestContext, ...args: readonly string[]): Promise<Run> {
  const out: string[] = [];
  const err: string[] = [];
  const log = context.mock.method(console, 'log', (text: string) => out.push(`${text}\n`));
  const error = context.mock.method(console, 'error', (text: string) => err.push(`${text}\n`));
  try {
    const from = ['-f', SHOP, '--node', 'node1', '--cluster-cidr', '10.1.0.0/16'];
    const code = await runProgram(async () => [renderCommand()], ['render', ...from, ...args]);
    return { code, out: out.join(''), err: err.join('') };
  } finally {
    for (const { mock } of [log, error]) mock.restore();
  }
}

test('shows what is done, what the kernel has for it, and what the rules do', async (context) => {
  const { code, out, err } = await run(context, 'shop/web:http');
  assert.deepEqual(
    [code, err],
    [0, `${ABOUT} with --cluster-cidr 10.1.0.0/16, node node1 (nftables)\n`],
  );
  assert.match(out, /^shop\/web:http {2}TCP, IPv4, in table ip fairlead$/m);
  assert.match(out, /198\.18\.0\.1:80 +load-balancer-ip +2 +2, masq +1 here/);
  assert.match(out, /map +frontends +10\.96\.0\.10 \. tcp \. 80 : 0x20da030b/);
  assert.match(out, /map +groups +0x20da030b : 0x01000002 +to chain cluster\/2/);
  assert.match(
    out,
    /10\.96\.0\.10:80 +nat-prerouting > dispatch > cluster\/2 > pick\/2 > nat-postrouting/,
  );
  assert.match(out, /# sends it to the endpoint in a slot drawn at random from 0 to 1/);
  assert.ok(!out.includes('\x1b'), 'no colours where nobody sees them');
});

test(
  'shows the entries of the hooks before the rules behind in socket-ebpf',
  NEEDS_WINGS,
  async (context) => {
    const { code, out } = await run(context, 'shop/web:http', '--mode', 'socket-ebpf');
    assert.equal(code, 0);
    assert.match(out, /in table ip fairlead, behind socket hooks$/m);
    assert.match(
      out,
      /ebpf +frontends +10\.96\.0\.10 tcp 80 from pod : slots \S+ +the socket gets one of 2 endpoints/,
    );
    assert.match(out, /10\.96\.0\.10:80 +socket hooks > nat-prerouting > dispatch/);
    const raw = await run(
      context,
      'shop/web:http',
      '--mode',
      'socket-ebpf',
      '--raw',
      '--family',
      'ip',
    );
    assert.match(
      raw.out,
      /^ebpf frontends \{ 10\.96\.0\.10 tcp 80 from pod : slots .* \} {2}# the socket/m,
    );
    assert.match(raw.out, /^table ip fairlead \{/m);
  },
);

test(
  'shows no hook entries for a namespace that is left to packets in socket-ebpf',
  NEEDS_WINGS,
  async (context) => {
    const left = ['-f', join(import.meta.dirname, 'render/testdata/left-to-packets.yaml')];
    const { code, out } = await run(context, 'shop/web:http', '--mode', 'socket-ebpf', ...left);
    assert.equal(code, 0);
    assert.match(out, /in table ip fairlead, without socket hooks$/m);
    assert.match(out, /10\.96\.0\.10:80 +nat-prerouting > dispatch/);
    assert.ok(!out.includes('ebpf'));
    const nftables = await run(context, 'shop/web:http', ...left);
    assert.match(nftables.out, /in table ip fairlead$/m);
  },
);

test('shows all Services without a name', async (context) => {
  const { out } = await run(context);
  assert.match(out, /^shop\/web:http /m);
  assert.match(out, /^shop\/empty /m);
  assert.match(out, /10\.96\.0\.11:53 +cluster-ip +rejected +rejected +rejected/);
});

test('prints a listing of nft with --raw, of one family on request', async (context) => {
  const { code, out } = await run(context, '--raw', '--family', 'ip');
  assert.equal(code, 0);
  assert.match(out, /^table ip fairlead \{\n\tcomment /);
  assert.ok(out.endsWith('\t}\n}\n'));
  assert.match(out, /10\.96\.0\.10 \. tcp \. 80 comment "shop\/web:http" : 0x20da030b/);
  assert.match(out, /ip saddr != 10\.1\.0\.0\/16/);
  const both = await run(context, '--raw');
  assert.deepEqual(both.out.match(/^table \S+/gm), ['table ip', 'table ip6']);
});

test('derives facts from the Node and from the flags', async (context) => {
  const { out } = await run(
    context,
    '--raw',
    '--family',
    'ip',
    '--nodeport-addresses',
    '172.16.0.0/16',
  );
  assert.match(out, /set nodeport-ips \{[^}]*elements = \{ 172\.16\.0\.11 \}/);
  assert.match(out, /ip daddr 10\.96\.0\.0\/16 drop/);
});

test('prints the same as JSON', async (context) => {
  const { out } = await run(context, '-o', 'json', 'shop/web');
  const [page] = JSON.parse(out) as { key: string; chains: { name: string }[] }[];
  assert.equal(page?.key, 'shop/web:http/TCP/IPv4');
  assert.ok(page.chains.some(({ name }) => name === 'local/1'));
});

test('reports a Service that does not exist, with the next step', async (context) => {
  const { code, err } = await run(context, 'shop/none');
  assert.equal(code, 1);
  assert.match(err, /Service shop\/none does not exist/);
  assert.match(err, /SERVICE_NOT_FOUND/);
});

test('warns about a node that is not in the cluster', async (context) => {
  const { code, err } = await run(context, '--node', 'elsewhere');
  assert.equal(code, 0);
  assert.match(err, /Node elsewhere does not exist/);
});

test(
  'shows the path hook by hook in iptables mode, with a sentence for each rule',
  NEEDS_WINGS,
  async (context) => {
    const { code, out, err } = await run(context, '--mode', 'iptables', 'shop/web:http');
    const given = '--mode iptables --cluster-cidr 10.1.0.0/16';
    assert.deepEqual([code, err], [0, `${ABOUT} with ${given}, node node1 (iptables)\n`]);
    assert.match(out, /^shop\/web:http {2}TCP, IPv4, by iptables$/m);
    assert.match(out, /node port 30080 +node-port +2 +2, masq +1 here/);
    assert.match(
      out,
      /node port 30080 +nat PREROUTING > KUBE-SERVICES > KUBE-NODEPORTS > KUBE-EXT-(\w+) > KUBE-SVC-\1 or KUBE-SVL-\1 > KUBE-SEP-\w+ or KUBE-SEP-\w+\n +filter FORWARD > KUBE-FORWARD\n +nat POSTROUTING > KUBE-POSTROUTING$/m,
    );
    const chain = /nat KUBE-SVL-\w+\n +# (.+)\n +(.+)\n/.exec(out);
    assert.match(chain?.[1] ?? '', /^takes endpoint 10\.1\.0\.1:8080 and goes on in KUBE-SEP-\w+$/);
    assert.match(chain?.[2] ?? '', /^-A KUBE-SVL-\w+ .* -j KUBE-SEP-\w+$/);
  },
);

test(
  'prints input for iptables-restore with --raw in iptables mode, of one family on request',
  NEEDS_WINGS,
  async (context) => {
    const { out } = await run(context, '--mode', 'iptables', '--raw', '--family', 'ip');
    assert.match(out, /^# for iptables-restore --noflush\n\*mangle\n/);
    assert.deepEqual(out.match(/^(\*\w+|COMMIT)$/gm), [
      ...['*mangle', 'COMMIT', '*filter', 'COMMIT', '*nat', 'COMMIT'],
    ]);
    assert.match(out, /^:KUBE-SVL-\w+ - \[0:0\]$/m);
    const rejected =
      /^-A KUBE-SERVICES -d 10\.96\.0\.11\/32 -p udp .*"shop\/empty has no endpoints".* -j REJECT/m;
    assert.match(out, rejected);
    const both = await run(context, '--mode', 'iptables', '--raw');
    assert.match(both.out, /^# for ip6tables-restore --noflush$/m);
  },
);

test('has the same chains as JSON in iptables mode', NEEDS_WINGS, async (context) => {
  const { out } = await run(context, '--mode', 'iptables', '-o', 'json', 'shop/web');
  const [page] = JSON.parse(out) as {
    frontends: { path: string[] }[];
    chains: { name: string; rules: { text: string; does: string }[] }[];
  }[];
  assert.ok(page);
  assert.ok(page.chains.some(({ name }) => name.startsWith('nat KUBE-SVL-')));
  assert.ok(page.frontends.every(({ path }) => path[0]?.startsWith('nat PREROUTING > ')));
});

test(
  'shows mode ipvs in words and as commands, with the scheduler of the flags',
  NEEDS_WINGS,
  async (context) => {
    const flags = ['--mode', 'ipvs', '--ipvs-scheduler', 'mh'];
    const { code, out } = await run(context, ...flags, 'shop/web:http');
    assert.equal(code, 0);
    assert.match(out, /^shop\/web:http {2}TCP, IPv4, in table ip fairlead, behind IPVS$/m);
    assert.match(
      out,
      /^BY HAND\n {2}ipvsadm -A -t 10\.96\.0\.10:80 -s mh -b mh-fallback,mh-port$/m,
    );
    const json = await run(context, ...flags, '-o', 'json', 'shop/web:http');
    const [page] = JSON.parse(json.out);
    assert.equal(page.commands[1], 'ipvsadm -a -t 10.96.0.10:80 -r 10.1.0.1:8080 -m -w 1');
    const raw = await run(context, ...flags, '--raw', '--family', 'ip', 'shop/web:http');
    assert.match(raw.out, /^table ip fairlead \{.*^table ip fairlead-ipvs \{.*^ipvsadm -A /ms);
  },
);
