import { once } from 'node:events';
import net from 'node:net';
import type { TunnelCounts } from '../../../agent/status-page.ts';
import { dialDirectly } from '../../../cluster/api-socket.ts';
import type { Source, SourceEvent } from '../../../cluster/source.ts';
import { problemDigest } from '../../../commands/problem-digest.ts';
import { openTransparentListener } from '../../../linux/outside/transparent-listener.ts';
import { SocketError } from '../../../linux/sockets/socket-error.ts';
import { openNetfilter } from '../../../modes/netfilter.ts';
import type { PodNetwork, PodNetworkOptions, PodNetworks } from '../../../modes/wing.ts';
import { systemClock } from '../../../time/clock.ts';
import { runTogether } from '../../../time/run-together.ts';
import { PodTunnels } from '../port-forward/pod-tunnels.ts';
import { carry } from './carry.ts';
import { runDnsStub } from './dns-stub.ts';
import { handOver } from './hand-to-listener.ts';
import { PodDirectory } from './pod-directory.ts';
import {
  addLookup,
  addPodRoute,
  countLookupAndRoutes,
  RouteKeeper,
  removeLookupAndRoutes,
  removePodRoute,
} from './route-keeper.ts';

export const POD_NETWORKS: PodNetworks = {
  open: (options) => new TunnelledPodNetwork(options),
  count: countLookupAndRoutes,
  remove: removeLookupAndRoutes,
};

/**
 * A network for a machine without routes to pods: local routes bring TCP to addresses of pods to a
 * listener of this process, which carries it through the API server. Whatever chose the pod, such as
 * the rules of a mode, knows nothing of it.
 */
class TunnelledPodNetwork implements PodNetwork {
  readonly #options: PodNetworkOptions;
  readonly #tunnels: PodTunnels;
  readonly #routes: RouteKeeper;
  readonly #directory: PodDirectory;
  readonly #synced = Promise.withResolvers<void>();
  readonly #unsynced = new Set(['service', 'slice']);

  constructor(options: PodNetworkOptions) {
    const { access, log } = options;
    this.#options = options;
    this.#tunnels = new PodTunnels({ access, dial: dialDirectly, userAgent: 'fairlead' });
    this.#routes = new RouteKeeper({ add: addPodRoute, remove: removePodRoute }, (error) =>
      log.warn({ code: error.code }, `cannot write a route to a pod: ${error.message}`),
    );
    this.#directory = new PodDirectory((address, isPresent) =>
      this.#routes.change(address, isPresent),
    );
  }

  /** The same source, whose events are seen here too. */
  tapped(source: Source): Source {
    return {
      run: (onEvent, signal) =>
        source.run((event) => {
          this.#take(event);
          onEvent(event);
        }, signal),
      health: () => source.health(),
      ...(source.server ? { server: () => source.server?.() ?? { gaps: [] } } : {}),
    };
  }

  counts(): TunnelCounts {
    return this.#tunnels.counts();
  }

  /** Rejects when the kernel does not take the rule. Leaves no route behind. */
  async run(signal: AbortSignal): Promise<void> {
    await removeLookupAndRoutes();
    const { servers, port, hasIPv6 } = this.#listen();
    using _table = await handOver(openNetfilter('requests'), port);
    await addLookup(hasIPv6);
    try {
      const { dnsStub, clusterDomain: domain } = this.#options;
      await runTogether(
        [
          (stop) => this.#routes.run(stop),
          (stop) => serveUntil(servers, stop),
          async (stop) => {
            await Promise.race([this.#synced.promise, untilAborted(stop)]);
            await Promise.race([this.#routes.settled(), untilAborted(stop)]);
            if (dnsStub === undefined || stop.aborted) return await untilAborted(stop);
            await runDnsStub({ address: dnsStub, domain, names: this.#directory }, stop);
          },
        ],
        signal,
      );
    } finally {
      this.#tunnels.close();
      await removeLookupAndRoutes();
    }
  }

  #take(event: SourceEvent): void {
    this.#directory.take(event);
    if (event.type !== 'synced') return;
    this.#unsynced.delete(event.kind);
    if (this.#unsynced.size === 0) this.#synced.resolve();
  }

  #listen(): { servers: readonly net.Server[]; port: number; hasIPv6: boolean } {
    const { log } = this.#options;
    const onProblem = problemDigest(systemClock, ({ problem, text }) =>
      log.warn({ code: problem.code }, text),
    );
    const carried = {
      podAt: (address: string, port: number) => this.#directory.podAt(address, port),
      tunnels: this.#tunnels,
      onProblem,
    };
    const serve = (fd: number): net.Server => {
      const options = { allowHalfOpen: true, pauseOnConnect: true };
      const server = net.createServer(options, (client) => void carry(client, carried));
      return server.listen({ fd });
    };
    const { fd, port } = openTransparentListener('127.0.0.1');
    const servers = [serve(fd)];
    try {
      servers.push(serve(openTransparentListener('::1', port).fd));
    } catch (error) {
      // A machine without IPv6 has no connections to pods with such addresses.
      if (!(error instanceof SocketError)) throw error;
    }
    return { servers, port, hasIPv6: servers.length === 2 };
  }
}

async function serveUntil(servers: readonly net.Server[], signal: AbortSignal): Promise<void> {
  await untilAborted(signal);
  for (const server of servers) server.close();
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}
