import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { IptablesProgram } from '../host/iptables-program.ts';
import type { ProxyPlace, ProxyVariant } from './contract.ts';
import { linkIptables } from './iptables-tools.ts';
import { hasSyncedFamilies, METRICS_PORT, proxyConfiguration } from './kube-proxy-configuration.ts';

/** To the lab Fairlead is a program like any other: started, and asked over its ports. */
const PROGRAM = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export type FairleadMode = 'nftables' | 'iptables' | 'socket-ebpf' | 'tc-ebpf';

/** Modes with programs of their own in the kernel, in front of nftables. */
const EBPF_MODES: readonly FairleadMode[] = ['socket-ebpf', 'tc-ebpf'];

export interface FairleadOptions {
  readonly name: string;
  readonly description: string;
  readonly mode: FairleadMode;
  /** The only backend of iptables that it finds. */
  readonly iptables?: IptablesProgram;
  /** What Node is given: its own flags, and the program. From source when not given. */
  readonly program?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const OPTIONS: readonly FairleadOptions[] = [
  { name: 'fairlead-nftables', description: 'Fairlead, nftables mode', mode: 'nftables' },
  {
    name: 'fairlead-iptables',
    description: 'Fairlead, iptables mode on the nft backend',
    mode: 'iptables',
    iptables: 'xtables-nft-multi',
  },
  {
    name: 'fairlead-iptables-legacy',
    description: 'Fairlead, iptables mode on the legacy backend',
    mode: 'iptables',
    iptables: 'xtables-legacy-multi',
  },
  {
    name: 'fairlead-socket-ebpf',
    description: 'Fairlead, socket-ebpf mode: socket hooks in front of nftables',
    mode: 'socket-ebpf',
  },
  {
    name: 'fairlead-tc-ebpf',
    description: 'Fairlead, tc-ebpf mode: programs at interfaces in front of nftables',
    mode: 'tc-ebpf',
  },
];

export const FAIRLEAD_VARIANTS: readonly ProxyVariant[] = OPTIONS.map(fairlead);
export const FAIRLEAD_NAMES: readonly string[] = OPTIONS.map(({ name }) => name);

/** The same variant with another program; undefined: it is not one of Fairlead's. */
export function fairleadWith(
  name: string,
  other: Required<Pick<FairleadOptions, 'program' | 'env'>>,
): ProxyVariant | undefined {
  const options = OPTIONS.find((candidate) => candidate.name === name);
  return options && fairlead({ ...options, ...other });
}

export function fairlead(of: FairleadOptions): ProxyVariant {
  return {
    name: of.name,
    description: of.description,
    ...(of.iptables === undefined ? {} : { iptables: of.iptables }),
    ...(EBPF_MODES.includes(of.mode) ? { servesSockets: true } : {}),
    async prepare(place) {
      const configFile = join(place.folder, 'fairlead.json');
      await writeFile(configFile, JSON.stringify(configuration(of.mode, place), null, 2));
      return {
        argv: [
          '/usr/bin/env',
          ...(of.iptables === undefined ? [] : await onlyBackend(place.folder, of.iptables)),
          process.execPath,
          ...(of.program ?? [PROGRAM]),
          'run',
          `--config=${configFile}`,
          // Nodes of the lab have a network of their own, and the files of the machine.
          `--run-folder=${join(place.folder, 'run')}`,
        ],
        env: of.env ?? {},
      };
    },
    synced: async (read) => hasSyncedFamilies((await read(METRICS_PORT, '/metrics')) ?? ''),
  };
}

/** Modes that kube-proxy does not have stand in a block of their own. */
function configuration(mode: FairleadMode, place: ProxyPlace): object {
  const { cgroupPath, pinFolder } = place.sockets ?? {};
  // Known to other modes too: they take away what is there of this one.
  const sockets = place.sockets ? { cgroup: cgroupPath, pinFolder } : {};
  const { addressRules } = place.settings;
  const own = { ...sockets, ...(addressRules ? { addressRules } : {}) };
  if (mode === 'nftables' || mode === 'iptables') {
    const isUsed = Object.keys(own).length > 0;
    return { ...proxyConfiguration(mode, place), ...(isUsed ? { fairlead: own } : {}) };
  }
  return { ...proxyConfiguration('nftables', place), fairlead: { mode, ...own } };
}

/** Neither the backend that the machine would choose nor its lock: nodes share its files. */
async function onlyBackend(folder: string, program: IptablesProgram): Promise<string[]> {
  const path = await linkIptables(join(folder, 'bin'), program);
  return [`PATH=${path}`, `XTABLES_LOCKFILE=${join(folder, 'xtables.lock')}`];
}
