import { writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { IptablesProgram } from '../host/iptables-program.ts';
import { terminalProgress } from '../host/progress.ts';
import { EARLIER_VERSION } from '../parts/api-version.ts';
import { KUBERNETES_VERSION, provideTool } from '../parts/build.ts';
import { provideEarlier } from '../parts/earlier.ts';
import type { GoBuildContext } from '../parts/go-build.ts';
import type { Allowance, ProxyVariant } from './contract.ts';
import { kernelPartsOf, type SharedMode } from './fairlead-modes.ts';
import { linkIptables } from './iptables-tools.ts';
import { hasSyncedFamilies, METRICS_PORT, proxyConfiguration } from './kube-proxy-configuration.ts';

interface UpstreamOptions {
  readonly mode: SharedMode;
  readonly iptables: IptablesProgram;
  /** The version before the reference, built when it is first needed. */
  readonly isEarlier?: boolean;
}

/** The same in each mode: they share the sync loop. */
const LATENESS: Allowance = {
  withinMs: 10_000,
  reason:
    'kube-proxy waits a second between two syncs, writes the families one after the other, and opens health check ports and deletes conntrack entries separately',
};

export const UPSTREAM_VARIANTS: readonly ProxyVariant[] = [
  upstream({ mode: 'nftables', iptables: 'xtables-nft-multi' }),
  upstream({ mode: 'iptables', iptables: 'xtables-nft-multi' }),
  upstream({ mode: 'iptables', iptables: 'xtables-legacy-multi' }),
  upstream({ mode: 'ipvs', iptables: 'xtables-nft-multi' }),
  upstream({ mode: 'nftables', iptables: 'xtables-nft-multi', isEarlier: true }),
  upstream({ mode: 'iptables', iptables: 'xtables-nft-multi', isEarlier: true }),
];

function upstream(options: UpstreamOptions): ProxyVariant {
  const provide = (context: GoBuildContext): Promise<string> =>
    options.isEarlier ? provideEarlier('kube-proxy', context) : provideTool('kube-proxy', context);
  return {
    ...title(options),
    lateness: LATENESS,
    iptables: options.iptables,
    kernelParts: kernelPartsOf(options.mode),
    // kube-proxy (v1.37.1, v1.36.4) starts its Node informer before it registers the handler for zones.
    // An event in between is lost, and it ignores topology hints until the label changes: about one
    // start in twenty on a busy machine.
    mayMissZoneAtStart: true,
    build: provide,
    async prepare(place) {
      const configFile = join(place.folder, 'kube-proxy.json');
      await writeFile(configFile, JSON.stringify(proxyConfiguration(options.mode, place), null, 2));
      const tools = await linkIptables(join(place.folder, 'bin'), options.iptables);
      const program = await provide({ progress: terminalProgress() });
      return {
        argv: [program, `--config=${configFile}`, '--v=2'],
        env: {
          PATH: `${tools}${delimiter}${process.env['PATH'] ?? ''}`,
          // The lock is a file, and files are not part of a network namespace: without its own,
          // every node of every lab, and the host, would wait for each other.
          XTABLES_LOCKFILE: join(place.folder, 'xtables.lock'),
        },
      };
    },
    // kube-proxy answers its health checks before the first sync; this metric does not.
    synced: async (read) => hasSyncedFamilies((await read(METRICS_PORT, '/metrics')) ?? ''),
  };
}

function title(options: UpstreamOptions): Pick<ProxyVariant, 'name' | 'description' | 'version'> {
  const { mode, iptables, isEarlier = false } = options;
  const isLegacy = iptables === 'xtables-legacy-multi';
  const version = isEarlier ? EARLIER_VERSION : KUBERNETES_VERSION;
  const backend = mode === 'iptables' ? ` on the ${isLegacy ? 'legacy' : 'nft'} backend` : '';
  return {
    name: `upstream-${mode}${isLegacy ? '-legacy' : ''}${isEarlier ? '-1.36' : ''}`,
    description: `kube-proxy ${version}, ${mode} mode${backend}`,
    ...(isEarlier ? { version: '1.36' } : {}),
  };
}
