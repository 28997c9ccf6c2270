import { writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Allowance, ProxyVariant } from './contract.ts';
import { type IptablesProgram, linkIptables } from './iptables-tools.ts';
import { hasSyncedFamilies, METRICS_PORT, proxyConfiguration } from './kube-proxy-configuration.ts';

interface UpstreamOptions {
  readonly name: string;
  readonly description: string;
  readonly mode: 'nftables' | 'iptables';
  readonly iptables: IptablesProgram;
}

/** Of each mode: the three share the loop that writes. */
const LATENESS: Allowance = {
  withinMs: 10_000,
  reason:
    'kube-proxy waits a second between two syncs, writes the families one after the other, and opens health check ports and moves UDP flows outside of what it writes',
};

export const UPSTREAM_VARIANTS: readonly ProxyVariant[] = [
  upstream({
    name: 'upstream-nftables',
    description: 'kube-proxy v1.36.4, nftables mode',
    mode: 'nftables',
    iptables: 'xtables-nft-multi',
  }),
  upstream({
    name: 'upstream-iptables',
    description: 'kube-proxy v1.36.4, iptables mode on the nft backend',
    mode: 'iptables',
    iptables: 'xtables-nft-multi',
  }),
  upstream({
    name: 'upstream-iptables-legacy',
    description: 'kube-proxy v1.36.4, iptables mode on the legacy backend',
    mode: 'iptables',
    iptables: 'xtables-legacy-multi',
  }),
];

function upstream(options: UpstreamOptions): ProxyVariant {
  return {
    name: options.name,
    description: options.description,
    lateness: LATENESS,
    // kube-proxy v1.36.4 asks for the Node's events before it says who wants to hear of zones; an
    // event that arrives in between is remembered as told, and the hints of endpoints are ignored
    // until the label changes. About one start in twenty on a busy machine.
    mayMissZoneAtStart: true,
    async prepare(place) {
      const configFile = join(place.folder, 'kube-proxy.json');
      await writeFile(configFile, JSON.stringify(proxyConfiguration(options.mode, place), null, 2));
      const tools = await linkIptables(join(place.folder, 'bin'), options.iptables);
      return {
        argv: [place.parts['kube-proxy'], `--config=${configFile}`, '--v=2'],
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
