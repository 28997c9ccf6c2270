import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { IptablesProgram } from '../host/iptables-program.ts';
import type { ProxyPlace, ProxyVariant } from './contract.ts';
import {
  FAIRLEAD_PROXIES,
  type FairleadMode,
  type FairleadProxy,
  fairleadProxy,
  isSharedMode,
  kernelPartsOf,
} from './fairlead-modes.ts';
import { linkIptables } from './iptables-tools.ts';
import { hasSyncedFamilies, METRICS_PORT, proxyConfiguration } from './kube-proxy-configuration.ts';

/** To the lab Fairlead is a program like any other: started, and asked over its ports. */
const PROGRAM = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const DEAD_FORWARDER = fileURLToPath(new URL('./dead-forwarder.ts', import.meta.url));

export interface FairleadOptions {
  readonly name: string;
  readonly description: string;
  readonly mode: FairleadMode;
  /** The only backend of iptables that it finds. */
  readonly iptables?: IptablesProgram;
  /** What Node is given: its own flags, and the program. From source when not given. */
  readonly program?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** `dead`: its forwarder ends as soon as it is started, every time. */
  readonly forwarder?: FairleadProxy['forwarder'];
  /** Copying threads of the forwarder; as many as CPUs when not given. */
  readonly threads?: number;
}

export const FAIRLEAD_VARIANTS: readonly ProxyVariant[] = FAIRLEAD_PROXIES.map(fairlead);
export const FAIRLEAD_NAMES: readonly string[] = FAIRLEAD_PROXIES.map(({ name }) => name);

/** The same variant with another program; undefined: it is not one of Fairlead's. */
export function fairleadWith(
  name: string,
  other: Required<Pick<FairleadOptions, 'program' | 'env'>>,
): ProxyVariant | undefined {
  const options = FAIRLEAD_PROXIES.find((candidate) => candidate.name === name);
  return options && fairlead({ ...options, ...other });
}

export function fairlead(of: FairleadOptions): ProxyVariant {
  return {
    name: of.name,
    description: of.description,
    ...(of.iptables === undefined ? {} : { iptables: of.iptables }),
    kernelParts: kernelPartsOf(of.mode),
    ...(fairleadProxy(of.mode).hasPrograms ? { servesSockets: true } : {}),
    async prepare(place) {
      const configFile = join(place.folder, 'fairlead.json');
      await writeFile(configFile, JSON.stringify(configuration(of, place), null, 2));
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
        env: {
          ...(of.forwarder === 'dead' ? { NODE_OPTIONS: `--import=${DEAD_FORWARDER}` } : {}),
          ...of.env,
        },
      };
    },
    synced: async (read) => hasSyncedFamilies((await read(METRICS_PORT, '/metrics')) ?? ''),
  };
}

/** Modes that kube-proxy does not have stand in a block of their own. */
function configuration({ mode, threads }: FairleadOptions, place: ProxyPlace): object {
  const { cgroupPath, pinFolder } = place.sockets ?? {};
  // Known to the modes without programs too: they remove those of the others.
  const sockets = place.sockets ? { cgroup: cgroupPath, pinFolder } : {};
  const { addressRules } = place.settings;
  const own = {
    ...sockets,
    ...(addressRules ? { addressRules } : {}),
    ...(threads === undefined ? {} : { userspace: { threads } }),
  };
  if (isSharedMode(mode)) {
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
