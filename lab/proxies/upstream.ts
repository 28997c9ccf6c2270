import { writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { IptablesProgram } from '../host/iptables-program.ts';
import type { ProxyVariant } from './contract.ts';
import { linkIptables } from './iptables-tools.ts';
import { hasSyncedFamilies, METRICS_PORT, proxyConfiguration } from './kube-proxy-configuration.ts';

interface UpstreamOptions {
  readonly name: string;
  readonly description: string;
  readonly mode: 'nftables' | 'iptables';
  readonly iptables: IptablesProgram;
}

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
    iptables: options.iptables,
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
