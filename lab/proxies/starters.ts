import type { ApiClient } from '../api/client.ts';
import type { Credentials } from '../control-plane/credentials.ts';
import { letProxyReadNamespaces } from '../control-plane/rights.ts';
import type { Daemon } from '../host/processes.ts';
import { retellZone } from '../kubelet/nodes.ts';
import { nodeName } from '../network/plan.ts';
import { nodeIndexes } from '../network/topology.ts';
import type { GoBuildContext } from '../parts/go-build.ts';
import type { ProxySettings, ProxyVariant, SocketPlace } from './contract.ts';
import { startProxy } from './running.ts';

export interface ProxyStarters {
  /** Starts a proxy on every node; resolves when all have synced. */
  startProxies(variant: ProxyVariant, settings?: ProxySettings): Promise<Map<string, Daemon>>;
  /** Starts a proxy on one node; resolves when it has synced. */
  startProxyOn(index: number, variant: ProxyVariant): Promise<Daemon>;
}

/** Of a lab that is being assembled. */
interface ProxyGround {
  readonly name: string;
  readonly nodeCount: number;
  readonly credentials: Credentials;
  readonly api: ApiClient;
  readonly folders: { readonly labFolder: string; readonly logFolder: string };
  readonly context: GoBuildContext;
  makeSocketPlaces(): Promise<void>;
  socketPlace(index: number): SocketPlace | undefined;
}

export function proxyStarters(ground: ProxyGround): ProxyStarters {
  const { name, nodeCount, credentials, folders, api } = ground;
  const prepareFor = async (variant: ProxyVariant): Promise<void> => {
    await variant.build?.(ground.context);
    if (!variant.servesSockets) return;
    await ground.makeSocketPlaces();
    await letProxyReadNamespaces(api);
  };
  const startOn = async (
    index: number,
    variant: ProxyVariant,
    settings: ProxySettings,
  ): Promise<Daemon> => {
    const sockets = ground.socketPlace(index);
    const place = { nodeName: nodeName(index), credentials, settings, sockets };
    const daemon = await startProxy({ ...place, ...folders, lab: name, variant });
    if (variant.mayMissZoneAtStart) await retellZone(api, index);
    return daemon;
  };
  return {
    startProxies: async (variant, settings = {}) => {
      await prepareFor(variant);
      const starts = nodeIndexes({ nodeCount }).map(
        async (index) => [nodeName(index), await startOn(index, variant, settings)] as const,
      );
      return new Map(await Promise.all(starts));
    },
    startProxyOn: async (index, variant) => {
      await prepareFor(variant);
      return await startOn(index, variant, {});
    },
  };
}
