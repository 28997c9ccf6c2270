import assert from 'node:assert/strict';
import { before, describe, it, type TestContext } from 'node:test';
import {
  type Agent,
  complaints,
  layNetwork,
  setSysctl,
  startAgent,
} from '../../../src/commands/doctor/testing/examined-node.ts';
import { enterOwnNetwork } from '../../../src/linux/netlink/testing/own-namespace.ts';
import { agentInMode, cannotRun } from './agent-in-mode.ts';

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
    const agent = await agentInMode(t, 'iptables');
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
    const agent = await agentInMode(t, 'userspace');
    await assertHealthy(agent);
    setSysctl('net/ipv4/tcp_tw_reuse', '0');
    assert.deepEqual(await complaints(agent.runFolder), ['note MODE_SYSCTL']);
  });

  for (const mode of ['ipvs', 'socket-ebpf', 'tc-ebpf'] as const) {
    it(`has no complaint in mode ${mode}`, { skip: cannotRun(mode) }, async (t) => {
      await assertHealthy(await agentInMode(t, mode));
    });
  }
});
