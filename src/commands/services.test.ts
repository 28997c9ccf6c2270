import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { runProgram } from './program.ts';
import { servicesCommand } from './services.ts';

const SHOP = join(import.meta.dirname, 'render/testdata/shop.yaml');
const HEAD = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';

/** Runs `fairlead services -f shop.yaml …` in this process; returns its output and its warnings. */
async function run(context: TestContext, ...args: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const log = context.mock.method(console, 'log', (text: string) => out.push(text));
  const error = context.mock.method(console, 'error', (text: string) => err.push(text));
  try {
    const code = await runProgram([servicesCommand()], ['services', '-f', SHOP, ...args]);
    return { code, out: out.join('\n'), err: err.join('\n') };
  } finally {
    for (const { mock } of [log, error]) mock.restore();
  }
}

test('a node serves every kind of address', async (context) => {
  const { out, err } = await run(context, '--node', 'node1');
  for (const kind of ['cluster-ip', 'load-balancer-ip', 'node-port'])
    assert.match(out, new RegExp(kind));
  assert.doesNotMatch(err, /not served|clients/);
});

test('shows that a machine without a Node object serves ClusterIPs to its own sockets only', async (context) => {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-services-'));
  try {
    const file = join(folder, 'config.yaml');
    await writeFile(file, `${HEAD}mode: nftables\nfairlead: {nodeObject: none}\n`);
    const { code, out, err } = await run(context, '--config', file);
    assert.equal(code, 0);
    assert.match(out, /cluster-ip/);
    assert.doesNotMatch(out, /external-ip|load-balancer-ip|node-port/);
    assert.match(err, /external IPs, load-balancer IPs, and node ports are not served/);
    assert.match(err, /clients: own sockets;/);
  } finally {
    await rm(folder, { recursive: true });
  }
});
