import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { enterNamespace, namespacePath } from '../../host/namespaces.ts';
import { run } from '../../host/run.ts';
import { removeLab } from '../../lab.ts';
import { httpGet } from '../../servers/http-get.ts';
import { startNetexec } from '../../servers/netexec.ts';
import { readEscapes } from '../capture.ts';
import {
  externalAddress,
  FAMILIES,
  type Family,
  outsiderAddress,
  podAddress,
  secondNodeAddress,
  tunnelAddress,
} from '../plan.ts';
import { plugPod } from '../pod-link.ts';
import { buildTopology } from '../topology.ts';
import { findNetwork, NETWORK_VARIANTS } from './registry.ts';

const PORT = 8080;
const SHORT_MS = 500;

/** Two nodes with a pod each, and nothing else: no control plane, no proxy. */
class Bare implements AsyncDisposable {
  readonly #lab = `t${randomBytes(3).toString('hex')}`;
  readonly #stack = new AsyncDisposableStack();

  static async build(name: string): Promise<Bare> {
    const bare = new Bare();
    const network = findNetwork(name);
    const common = { lab: bare.#lab, podNetwork: 'routed', network } as const;
    bare.#stack.defer(() => removeLab(bare.#lab));
    await buildTopology({ ...common, nodeCount: 2, iptables: 'xtables-nft-multi' });
    for (const nodeIndex of [1, 2]) {
      const address = podAddress(nodeIndex, 2);
      await plugPod({ ...common, nodeIndex, role: `pod${nodeIndex}`, linkName: 'pod2', address });
      const place = { namespacePath: bare.path(`pod${nodeIndex}`), hostname: `pod${nodeIndex}` };
      const ports = [{ port: PORT, protocol: 'TCP' }] as const;
      bare.#stack.use(await startNetexec({ ...place, ports }));
    }
    return bare;
  }

  path(role: string): string {
    return namespacePath({ lab: this.#lab, role });
  }

  /** Which source address pod2 saw; undefined when there was no answer. */
  async sourceSeen(role: string, family: Family): Promise<string | undefined> {
    const to = { address: podAddress(2, 2)[family], port: PORT, path: '/clientip' };
    return await httpGet({ namespace: this.path(role) }, { ...to, deadlineMs: SHORT_MS }).then(
      ({ body }) => body.slice(0, body.lastIndexOf(':')).replace(/^\[|\]$/g, ''),
      () => undefined,
    );
  }

  /** Whether node1 forwards what a client sends through it to somewhere outside. */
  async forwardsToOutside(): Promise<boolean> {
    const address = externalAddress(1).ipv4;
    const sourceAddress = outsiderAddress('client', 1).ipv4;
    const to = { address, port: PORT, path: '/', deadlineMs: SHORT_MS };
    await httpGet({ namespace: this.path('client'), sourceAddress }, to).catch(() => undefined);
    return (await readEscapes(this.path('fabric'))).some((seen) => seen.address === address);
  }

  async onNode1(input: string): Promise<void> {
    await run(enterNamespace(this.path('node1'), ['nft', '-f', '-']), { input });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

describe('network variants', { timeout: 120_000 }, () => {
  for (const { name } of NETWORK_VARIANTS) {
    it(`${name}: a pod reaches a pod of another node with its own address`, async () => {
      await using bare = await Bare.build(name);
      for (const family of FAMILIES) {
        assert.equal(await bare.sourceSeen('pod1', family), podAddress(1, 2)[family]);
      }
    });
  }

  for (const [name, forwards] of [
    ['plain', true],
    ['docker', false],
    ['pod-policy', false],
  ] as const) {
    it(`${name}: a node ${forwards ? 'forwards' : 'drops'} what is not of pods`, async () => {
      await using bare = await Bare.build(name);
      assert.equal(await bare.forwardsToOutside(), forwards);
    });
  }

  it('vxlan: a node sends to pods of another with its address on the tunnel', async () => {
    await using bare = await Bare.build('vxlan');
    for (const family of FAMILIES) {
      assert.equal(await bare.sourceSeen('node1', family), tunnelAddress(1)[family]);
    }
  });

  it('vxlan: nothing gets through when outer packets are masqueraded', async () => {
    await using bare = await Bare.build('vxlan');
    await bare.onNode1(`table inet fault {
      chain post {
        type nat hook postrouting priority srcnat; policy accept;
        udp dport 8472 masquerade random,fully-random
      }
    }\n`);
    assert.equal(await bare.sourceSeen('pod1', 'ipv4'), undefined);
  });

  it('two-uplinks: a node sends to pods of another with its second address', async () => {
    await using bare = await Bare.build('two-uplinks');
    for (const family of FAMILIES) {
      assert.equal(await bare.sourceSeen('node1', family), secondNodeAddress(1)[family]);
    }
  });
});
