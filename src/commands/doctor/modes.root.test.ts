import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, it, type TestContext } from 'node:test';
import { enterOwnNetwork } from '../../linux/netlink/testing/own-namespace.ts';
import {
  type Agent,
  complaints,
  layNetwork,
  setSysctl,
  startAgent,
} from './testing/examined-node.ts';

const HEALTHY_RUNS = 3;

before(() => {
  enterOwnNetwork();
  layNetwork();
});

async function agentFor(t: TestContext, ...flags: readonly string[]): Promise<Agent> {
  const agent = await startAgent(...flags);
  t.after(() => agent[Symbol.asyncDispose]());
  return agent;
}

async function assertHealthy({ runFolder }: Agent): Promise<void> {
  for (let count = 0; count < HEALTHY_RUNS; count++) {
    assert.deepEqual(await complaints(runFolder), []);
  }
}

describe('doctor in other modes', () => {
  it('takes the chains of mode iptables for its own, and names what its loopback needs', async (t) => {
    const agent = await agentFor(t, '--proxy-mode', 'iptables');
    await assertHealthy(agent);
    setSysctl('net/ipv4/conf/all/route_localnet', '0');
    assert.deepEqual(await complaints(agent.runFolder), ['problem ROUTE_LOCALNET_OFF']);
  });

  it('names a clusterCIDR that leaves out the pods of this node', async (t) => {
    const wrong = ['--proxy-mode', 'iptables', '--cluster-cidr', '10.99.0.0/16,fd44::/16'];
    const { runFolder } = await agentFor(t, ...wrong);
    assert.deepEqual(await complaints(runFolder), ['problem POD_DETECTION_WRONG']);
  });

  it('names a kernel setting that mode userspace has lost', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'fairlead-doctor-'));
    t.after(() => rm(folder, { recursive: true }));
    const config = join(folder, 'config.yaml');
    await writeFile(
      config,
      'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nclusterCIDR: 10.244.0.0/16,fd44::/16\nfairlead: { mode: userspace }\n',
    );
    const agent = await agentFor(t, '--config', config);
    await assertHealthy(agent);
    setSysctl('net/ipv4/tcp_tw_reuse', '0');
    assert.deepEqual(await complaints(agent.runFolder), ['note MODE_SYSCTL']);
  });
});
