import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Agent } from '../../src/agent/agent.ts';
import { AgentMetrics } from '../../src/agent/metrics/agent-metrics.ts';
import type { Kind } from '../../src/cluster/object-kinds.ts';
import type { SliceEndpoint } from '../../src/cluster/objects.ts';
import type { Source, SourceEvent } from '../../src/cluster/source.ts';
import { flowsOf, followFlows } from '../../src/commands/run/follow-flows.ts';
import { knownAddresses } from '../../src/commands/run/known-addresses.ts';
import { buildConfig } from '../../src/config/load-config.ts';
import { traitsOf } from '../../src/config/modes.ts';
import {
  endpoint,
  service,
  slice,
  TERMINATING,
} from '../../src/forwarding/testing/example-objects.ts';
import { SERVED_PORT } from '../../src/linux/testing/hosts/host.ts';
import { SILENT_LOGGER } from '../../src/log/testing/silent-logger.ts';
import { NFTABLES } from '../../src/modes/nftables.ts';
import { systemClock } from '../../src/time/clock.ts';
import { runTogether } from '../../src/time/run-together.ts';
import { type NodeNetwork, nodeNetwork } from '../../src/wings/ebpf/plane/testing/node-network.ts';

const KINDS: readonly Kind[] = ['service', 'slice', 'node', 'serviceCidr'];
const PORT = { name: 'dns', protocol: 'UDP', port: 80, nodePort: 0 };
const MOVED_WITHIN_MS = 20_000;

/** An old API server, which accepts addresses in any spelling; current ones do not. */
class ToldSource implements Source {
  #onEvent: (event: SourceEvent) => void = () => undefined;

  async run(onEvent: (event: SourceEvent) => void, signal: AbortSignal): Promise<void> {
    this.#onEvent = onEvent;
    this.service('dns', 'fd96::1');
    this.service('witness', 'fd96::2');
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }

  health(): [] {
    return [];
  }

  service(name: string, address: string): void {
    const object = service({ name, clusterIPs: [address], ports: [PORT] });
    this.#onEvent({ kind: 'service', type: 'put', key: `ns/${name}`, object });
  }

  endpoints(name: string, ...endpoints: SliceEndpoint[]): void {
    const ports = [{ name: 'dns', protocol: 'UDP', port: SERVED_PORT }];
    const object = slice(endpoints, { name, service: name, addressType: 'IPv6', ports });
    this.#onEvent({ kind: 'slice', type: 'put', key: `ns/${name}`, object });
  }

  synced(): void {
    for (const kind of KINDS) this.#onEvent({ kind, type: 'synced' });
  }
}

/** The parts of `fairlead run` that flows depend on, from events to the kernel. */
async function whileRunning(source: ToldSource, work: () => Promise<void>): Promise<void> {
  const { settings } = buildConfig(new Map([['proxy-mode', ['nftables']]]), undefined);
  const log = SILENT_LOGGER;
  const addresses = knownAddresses();
  const { plane } = NFTABLES.open({});
  const agentOf = (): Agent => agent;
  const snapshot = () => agentOf().snapshot();
  const clock = systemClock;
  const metrics = new AgentMetrics({
    mode: 'nftables',
    version: '',
    startedAtMs: 0,
    snapshot,
    clock,
  });
  const flows = followFlows({
    agent: agentOf,
    addresses,
    metrics,
    history: { flowsEnded: () => undefined },
    log,
    conntrack: flowsOf(NFTABLES, settings, log),
  });
  const synced = Promise.withResolvers<void>();
  const agent = new Agent({
    plane,
    source,
    addresses,
    settings,
    needs: traitsOf('nftables').needs,
    nodeName: 'here',
    clock: systemClock,
    log,
    observers: [flows.observer, { onFirstSync: () => synced.resolve() }],
  });
  const stop = new AbortController();
  const running = runTogether([(end) => agent.run(end), (end) => flows.run(end)], stop.signal);
  try {
    source.synced();
    await Promise.race([synced.promise, running]);
    await work();
  } finally {
    stop.abort();
    await running;
    await plane.remove();
  }
}

function ready(network: NodeNetwork, index: number): SliceEndpoint {
  return endpoint(network.endpoints[index]?.ipv6 ?? '');
}

async function untilAnsweredBy(name: string, ask: () => Promise<{ by: string }>): Promise<void> {
  const giveUpAtMs = performance.now() + MOVED_WITHIN_MS;
  for (;;) {
    const { by } = await ask();
    if (by === name) return;
    assert.ok(performance.now() < giveUpAtMs, `${by} answers, and not ${name}`);
  }
}

test('keeps a UDP flow with an endpoint that terminates and serves, however its slice spells the address', async () => {
  const network = await nodeNetwork('draining-flows');
  const source = new ToldSource();
  const spelledOut = endpoint(ready(network, 0).address.replace('::', ':0:0:0:0:0:'));
  assert.match(spelledOut.address, /^(\w+:){7}\w+$/);
  try {
    await whileRunning(source, async () => {
      source.endpoints('dns', spelledOut);
      source.endpoints('witness', ready(network, 1));
      const peer = { transport: 'UDP', port: 80, timeoutMs: 1000 } as const;
      const held = await network.client.hold({ ...peer, address: 'fd96::1' });
      const witness = await network.client.hold({ ...peer, address: 'fd96::2' });
      await untilAnsweredBy('e1', () => held.speak());
      await untilAnsweredBy('e2', () => witness.speak());

      source.endpoints('dns', { ...spelledOut, ...TERMINATING }, ready(network, 2));
      source.endpoints('witness', ready(network, 2));
      // Flows are reconciled together: when this one has been moved, the other has been decided.
      await untilAnsweredBy('e3', () => witness.speak());
      assert.equal((await held.speak()).by, 'e1');

      source.endpoints('dns', ready(network, 2));
      await untilAnsweredBy('e3', () => held.speak());
    });
  } finally {
    network.leave();
  }
});
