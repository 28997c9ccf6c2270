import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { NEEDS_WINGS } from '../wings/testing/needs-wings.ts';
import { configCommand } from './config.ts';
import { configReference } from './config-views.ts';
import { normalizeArguments } from './kube-proxy-flags.ts';
import { runProgram } from './program.ts';

const TESTDATA = join(import.meta.dirname, '../config/testdata');

interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `fairlead config …` in this process. */
async function run(context: TestContext, ...args: readonly string[]): Promise<Run> {
  const out: string[] = [];
  const err: string[] = [];
  const log = context.mock.method(console, 'log', (text: string) => out.push(`${text}\n`));
  const error = context.mock.method(console, 'error', (text: string) => err.push(`${text}\n`));
  try {
    const code = await runProgram(async () => [configCommand()], ['config', ...args]);
    return { code, out: out.join(''), err: err.join('') };
  } finally {
    for (const { mock } of [log, error]) mock.restore();
  }
}

function line(text: string, start: string): string | undefined {
  return text.split('\n').find((candidate) => candidate.startsWith(`${start} `));
}

test('shows in the table the origin of every value, and the differences to kube-proxy', async (context) => {
  const file = join(TESTDATA, 'kubeadm.yaml');
  const { code, out, err } = await run(context, '--config', file, '--hostname-override=n1', '-v=2');
  assert.equal(code, 0);
  assert.equal(err, '');
  assert.match(line(out, 'mode') ?? '', /nftables +default +differs from kube-proxy: iptables/);
  assert.match(line(out, 'clusterCIDR') ?? '', /10\.244\.0\.0\/16 +file line 10$/);
  assert.match(line(out, 'hostnameOverride') ?? '', /n1 +--hostname-override$/);
  assert.match(line(out, 'logging.verbosity') ?? '', /2 +--v$/);
});

test('accepts flags as kube-proxy does', NEEDS_WINGS, async (context) => {
  const { code, out } = await run(
    context,
    ...['-o', 'json', '--proxy_mode', 'ipvs', '--oom-score-adj', '-5', '--masquerade-all', '-v3'],
    ...['--ipvs-strict-arp=false', '--nodeport-addresses=10.0.0.0/8', '--nodeport-addresses=::/0'],
  );
  assert.equal(code, 0);
  const { settings, fields } = JSON.parse(out);
  assert.equal(settings.mode, 'ipvs');
  assert.equal(settings.oomScoreAdj, -5);
  assert.equal(settings.masquerade.all, true);
  assert.equal(settings.log.verbosity, 3);
  assert.deepEqual(settings.nodePorts.addresses, ['10.0.0.0/8', '::/0']);
  assert.deepEqual(fields['ipvs.strictARP'], {
    value: false,
    origin: { from: 'flag', flag: 'ipvs-strict-arp' },
  });
});

test('exits with 1 for a mode that does not exist, and lists those that do', async (context) => {
  const modes = 'nftables, iptables, ipvs, socket-ebpf, tc-ebpf, userspace';
  const { code, err } = await run(context, '--proxy-mode=nonsense');
  assert.equal(code, 1);
  const first = `--proxy-mode: must be one of ${modes}, and is "nonsense"`;
  assert.equal(err.split('\n')[0], first);
});

test('warns on standard error about settings without effect', async (context) => {
  const { code, out, err } = await run(context, '--kube-api-qps=50', '--cleanup', '-o', 'yaml');
  assert.equal(code, 0);
  assert.match(err, /^warning: --kube-api-qps: has no effect\./);
  assert.match(err, /\nwarning: --cleanup is ignored/);
  assert.match(out, /^apiVersion: kubeproxy/);
});

test('exits with 1 for an invalid configuration, with the next step', async (context) => {
  const { code, out, err } = await run(context, '--proxy-mode=ebpf', '--conntrack-min=-1');
  assert.equal(code, 1);
  assert.equal(out, '');
  assert.match(err, /^--proxy-mode: must be one of .*\n--conntrack-min: must be 0 or more/);
  assert.match(err, /\nfix .*\(CONFIG_INVALID\)\n$/);
});

test('exits with 2 for a wrong command line', async (context) => {
  assert.equal((await run(context, '--no-such-flag')).code, 2);
  assert.equal((await run(context, 'argument')).code, 2);
  assert.equal((await run(context, '-o', 'xml')).code, 2);
  assert.equal((await run(context, '--help')).code, 0);
});

test('--write-config-to writes a file that gives the same again', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-config-'));
  context.after(() => rm(folder, { recursive: true, force: true }));
  const [first, second] = [join(folder, 'first.yaml'), join(folder, 'second.yaml')];
  await writeFile(first, await readFile(join(TESTDATA, 'kind.yaml')));
  const { out } = await run(context, '--config', first, '-o', 'yaml');
  assert.equal((await run(context, '--config', first, '--write-config-to', second)).code, 0);
  assert.equal(await readFile(second, 'utf8'), out);
});

test('prints a JSON schema with --schema', async (context) => {
  const { out } = await run(context, '--schema');
  assert.equal(JSON.parse(out).title, 'KubeProxyConfiguration');
});

test('prints the table of docs/configuration.md with --reference', async () => {
  const path = join(import.meta.dirname, '../../docs/configuration.md');
  const text = await readFile(path, 'utf8');
  const [, between] = /<!-- reference -->\n\n([\s\S]*?)\n\n<!-- end -->/.exec(text) ?? [];
  const how = 'npm run -s fairlead -- config --reference';
  assert.equal(between, configReference(), `put the output of "${how}" between the marks`);
});

test('reads underscores in names of flags as hyphens, and keeps values', () => {
  assert.deepEqual(
    normalizeArguments(['--proxy_mode=a_b', '-v=2', 'a_b', '--x_y', '--', '--x_y']),
    ['--proxy-mode=a_b', '-v2', 'a_b', '--x-y', '--', '--x_y'],
  );
});

test('shows in the table what follows from a missing Node object', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-config-'));
  try {
    const file = join(folder, 'config.yaml');
    const head = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';
    await writeFile(file, `${head}mode: nftables\nfairlead: {nodeObject: none}\n`);
    const { out } = await run(context, '--config', file);
    const from = 'default \\(fairlead\\.nodeObject\\)';
    const says = (field: string, text: string): void =>
      assert.match(line(out, field) ?? '', new RegExp(text), field);
    says('nodePortAddresses', `${from} +no node ports$`);
    says('fairlead.clients', `${from} +only this machine's own sockets$`);
    says('fairlead.servedAddresses', `${from} +only ClusterIPs and node ports$`);
    says('fairlead.serviceRanges', ' +no ClusterIP is served$');
    says('healthzBindAddress', `127\\.0\\.0\\.1:10256 +${from}$`);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('warns of insecure access to the API server, if there is a kubeconfig', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-config-'));
  context.after(() => rm(folder, { recursive: true }));
  const kubeconfig = join(folder, 'kubeconfig');
  const text = JSON.stringify({
    'current-context': 'here',
    clusters: [
      { name: 'c', cluster: { server: 'https://a.example', 'insecure-skip-tls-verify': true } },
    ],
    contexts: [{ name: 'here', context: { cluster: 'c' } }],
  });
  await writeFile(kubeconfig, text);
  const unverified = await run(context, '--kubeconfig', kubeconfig);
  assert.equal(unverified.code, 0);
  assert.match(unverified.err, /^warning: insecure-skip-tls-verify: .*\(API_SERVER_UNVERIFIED\)$/m);
  const absent = await run(context, '--kubeconfig', join(folder, 'absent'));
  assert.deepEqual([absent.code, absent.err], [0, '']);
  const plain = await run(context, '--master', 'http://a.example:8080');
  assert.match(plain.err, /^warning: .*\(API_SERVER_PLAIN_HTTP\)$/m);
});
