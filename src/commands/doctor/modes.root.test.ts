import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { before, describe, it, type TestContext } from 'node:test';
import { compiledProgram } from '../../dataplanes/ebpf/testing/packet-plane.ts';
import { ownPlace } from '../../linux/bpf/testing/own-place.ts';
import { enterOwnNetwork } from '../../linux/netlink/testing/own-namespace.ts';
import {
  type Agent,
  complaints,
  layNetwork,
  setSysctl,
  startAgent,
} from './testing/examined-node.ts';

const HEALTHY_RUNS = 20;

before(() => {
  enterOwnNetwork();
  layNetwork();
});

async function agentFor(t: TestContext, ...of: Parameters<typeof startAgent>): Promise<Agent> {
  const agent = await startAgent(...of);
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
    const agent = await agentFor(t, ['--proxy-mode', 'iptables'], 'iptables');
    await assertHealthy(agent);
    setSysctl('net/ipv4/conf/all/route_localnet', '0');
    assert.deepEqual(await complaints(agent.runFolder), ['problem ROUTE_LOCALNET_OFF']);
  });

  it('names a clusterCIDR that leaves out the pods of this node', async (t) => {
    const wrong = ['--proxy-mode', 'nftables', '--cluster-cidr', '10.99.0.0/16,fd44::/16'];
    const { runFolder } = await agentFor(t, wrong);
    assert.deepEqual(await complaints(runFolder), ['problem POD_DETECTION_WRONG']);
  });

  it('names a kernel setting that mode userspace has lost', async (t) => {
    const agent = await agentFor(
      t,
      ['--config', await configFile(t, 'mode: userspace')],
      'userspace',
    );
    await assertHealthy(agent);
    setSysctl('net/ipv4/tcp_tw_reuse', '0');
    assert.deepEqual(await complaints(agent.runFolder), ['note MODE_SYSCTL']);
  });

  for (const mode of ['socket-ebpf', 'tc-ebpf']) {
    it(`has no complaint in mode ${mode}`, async (t) => {
      for (const name of ['sock', 'tc'] as const) compiledProgram(name);
      const { cgroup, pins, leave } = ownPlace(`doctor-${mode}`);
      t.after(leave);
      const own = `mode: ${mode}, cgroup: ${cgroup}, pinFolder: ${pins}/fairlead`;
      await assertHealthy(await agentFor(t, ['--config', await configFile(t, own)]));
    });
  }
});

async function configFile(t: TestContext, own: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-doctor-'));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'config.yaml');
  const lines = [
    'apiVersion: kubeproxy.config.k8s.io/v1alpha1',
    'kind: KubeProxyConfiguration',
    'clusterCIDR: 10.244.0.0/16,fd44::/16',
    `fairlead: { ${own} }`,
  ];
  await writeFile(path, lines.join('\n'));
  return path;
}
