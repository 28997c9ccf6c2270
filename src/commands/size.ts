import { Command, InvalidArgumentError, Option } from 'commander';
import type { ModeName } from '../config/modes.ts';
import type { ClusterSize } from '../dataplanes/ebpf/maps/map-sizes.ts';
import { possibleCpus } from '../linux/bpf/possible-cpus.ts';
import { modeNamed, SIZED_MODES } from '../modes/registry.ts';
import { sizeTable } from './size/table-view.ts';
import { printJson, printPage } from './terminal/print.ts';

const MOST = 100_000_000;

interface SizeOptions {
  readonly mode: ModeName;
  readonly services: number;
  readonly endpoints: number;
  readonly frontends: number;
  readonly nodeAddresses: number;
  readonly cpus?: number;
  readonly output: 'table' | 'json';
}

/** `fairlead size`: kernel memory that a cluster of some size needs on a node, in advance. */
export function sizeCommand(): Command {
  return new Command('size')
    .description(
      'how much memory the maps of a mode take in the kernel, for a cluster of some size',
    )
    .requiredOption('--services <count>', 'ports of Services, one for each address family', count)
    .option('--endpoints <count>', 'of each of them', count, 1)
    .option('--frontends <count>', 'addresses and node ports of each of them', count, 1)
    .option('--node-addresses <count>', 'addresses of the machine', count, 1)
    .option(
      '--cpus <count>',
      'that may ever be in the machine; those of this one if not given',
      count,
    )
    .addOption(
      new Option('--mode <mode>', 'which data plane').choices(SIZED_MODES).default(SIZED_MODES[0]),
    )
    .addOption(
      new Option('-o, --output <form>', 'for a person, or for a program')
        .choices(['table', 'json'])
        .default('table'),
    )
    .action(show);
}

function show(options: SizeOptions): void {
  const { mode, output } = options;
  const cluster: ClusterSize = {
    servicePorts: options.services,
    endpointsPerPort: options.endpoints,
    frontendsPerPort: options.frontends,
    nodeAddresses: options.nodeAddresses,
    cpus: options.cpus ?? possibleCpus(),
  };
  const maps = modeNamed(mode).size?.(cluster) ?? [];
  const totalBytes = maps.reduce((sum, { bytes }) => sum + bytes, 0);
  const found = { mode, ...cluster, maps, totalBytes };
  if (output === 'json') printJson(found);
  else printPage(sizeTable(maps));
}

function count(text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number <= MOST) return number;
  throw new InvalidArgumentError(`It must be a whole number up to ${MOST}.`);
}
