import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, it, type TestContext } from 'node:test';
import type { AgentNode } from '../agent/servers/agent-node.ts';
import type { Difference } from '../dataplanes/contract.ts';
import { bring, newPlane, nft } from '../dataplanes/nftables/testing/nftables-kernel.ts';
import { enterOwnNetwork } from '../linux/netlink/testing/own-namespace.ts';
import { findBasis } from './basis/basis.ts';
import { answerOf } from './basis/basis-answer.ts';
import { manyServices } from './basis/testing/many-services.ts';
import { runCommand } from './basis/testing/run-command.ts';
import { serveAgent } from './basis/testing/served-agent.ts';
import { diffCommand } from './diff-command.ts';

before(enterOwnNetwork);

const SHOP = join(import.meta.dirname, 'render/testdata/shop.yaml');
const CONFIG = `apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
clusterCIDR: 10.1.0.0/16
`;

const diff = (t: TestContext, ...args: string[]) => runCommand(t, diffCommand(), args);

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'fairlead-diff-'));
  t.after(() => rm(path, { recursive: true }));
  return path;
}

/** An agent whose rows are in the kernel of this network namespace. */
async function agentInKernel(t: TestContext, says: Partial<AgentNode> = {}): Promise<string> {
  const runFolder = await folder(t);
  const configPath = join(runFolder, 'config.yaml');
  await writeFile(configPath, CONFIG);
  const agent = await serveAgent({
    runFolder,
    configPath,
    manifests: [SHOP],
    nodeName: 'node1',
    says,
  });
  t.after(() => agent[Symbol.asyncDispose]());
  const basis = await findBasis({ flags: new Map(), options: { runFolder } });
  const { facts, rows } = await answerOf(basis);
  const plane = newPlane();
  await bring(plane, { facts, rows: rows.map(({ forwarding }) => forwarding) });
  t.after(() => plane.remove());
  return runFolder;
}

describe('diff', () => {
  it('counts everything that is missing, and lists the first entries', async (t) => {
    const file = join(await folder(t), 'many.json');
    await writeFile(file, manyServices(300));
    const { code, out, err } = await diff(t, '-f', file, '--proxy-mode', 'nftables');
    assert.equal(code, 3);
    assert.equal(out.split('\n').length, 100);
    const verdict = /^(\d+) differences in 300 service ports: \1 missing in the kernel \(-\)$/m;
    const count = Number(verdict.exec(err)?.[1]);
    assert.ok(count >= 600, err);
    assert.match(err, new RegExp(`^and ${count - 100} more; --all lists them$`, 'm'));
    const all = await diff(t, '-f', file, '--proxy-mode', 'nftables', '-o', 'json');
    assert.equal(JSON.parse(all.out).length, count);
  });

  it('finds none where the kernel has the desired state', async (t) => {
    const runFolder = await agentInKernel(t);
    const { code, out, err } = await diff(t, '--run-folder', runFolder);
    assert.deepEqual([code, out], [0, ''], err);
    assert.match(err, /^from the agent on node1 \(nftables, pid \d+\)\n/);
    assert.match(err, /the kernel matches the desired state of this node$/);
  });

  it('shows a value that differs beside the desired one', async (t) => {
    const runFolder = await agentInKernel(t);
    nft('delete element ip fairlead slots { 0x10da030b . 0 }');
    nft('add element ip fairlead slots { 0x10da030b . 0 : 10.1.0.99 . 8080 }');
    nft('insert rule ip fairlead dispatch counter');
    const { code, out } = await diff(t, '--run-folder', runFolder);
    assert.equal(code, 3);
    assert.deepEqual(out.split('\n'), [
      '~ ip fairlead map slots { 0x10da030b . 0 }  (shop/web:http)',
      '    desired 10.1.0.1 . 8080   in the kernel 10.1.0.99 . 8080',
      '~ ip fairlead chain dispatch',
      '    desired        nothing else',
      '    in the kernel  (a rule of another process)',
    ]);
    const { out: json } = await diff(t, '--run-folder', runFolder, '-o', 'json');
    const [slot] = JSON.parse(json) as (Difference & { from: { configuration: string } })[];
    assert.deepEqual([slot?.wanted, slot?.found], [['10.1.0.1 . 8080'], ['10.1.0.99 . 8080']]);
    assert.equal(slot?.from.configuration, 'agent');
  });

  it('does not compare with the kernel of another network namespace', async (t) => {
    const runFolder = await agentInKernel(t, { pid: 4121, networkNamespace: 'net:[1]' });
    const { code, out, err } = await diff(t, '--run-folder', runFolder);
    assert.deepEqual([code, out], [1, '']);
    assert.match(err, /^the agent \(pid 4121\) serves another network namespace \(net:\[1\]\)/);
    assert.match(err, /nsenter -t 4121 -n fairlead diff/);
  });
});
