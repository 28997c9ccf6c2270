import { Command, InvalidArgumentError, Option } from 'commander';
import { printJson, printPage } from '../../commands/terminal/print.ts';
import { formatTextTable } from '../../commands/text-table.ts';
import type { ModeName } from '../../config/modes.ts';
import { possibleCpus } from '../../linux/ebpf/map.ts';
import { readPrograms, SOCKET_PROGRAMS } from '../../linux/ebpf/shipped-programs.ts';
import { type ClusterSize, type MapSize, mapSizes } from './plane/maps/map-sizes.ts';

const SIZED_MODES = ['socket-ebpf', 'tc-ebpf'] as const satisfies readonly ModeName[];
const MOST = 100_000_000;

interface SizeOptions {
  readonly mode: (typeof SIZED_MODES)[number];
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
    .description('estimate the kernel memory of the maps of a mode, for a cluster of a given size')
    .requiredOption(
      '--services <count>',
      'number of service ports, counted per address family',
      count,
    )
    .option('--endpoints <count>', 'endpoints per service port', count, 1)
    .option('--frontends <count>', 'addresses and node ports per service port', count, 1)
    .option('--node-addresses <count>', 'addresses of the machine', count, 1)
    .option('--cpus <count>', 'possible CPUs of the machine; default: those of this machine', count)
    .addOption(new Option('--mode <mode>', 'the mode').choices(SIZED_MODES).default(SIZED_MODES[0]))
    .addOption(
      new Option('-o, --output <form>', 'table for people, json for programs')
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
  // Both modes declare all maps.
  const maps = mapSizes(readPrograms(SOCKET_PROGRAMS).maps, cluster);
  const totalBytes = maps.reduce((sum, { bytes }) => sum + bytes, 0);
  const found = { mode, ...cluster, maps, totalBytes };
  if (output === 'json') printJson(found);
  else printPage(sizeTable(maps));
}

function count(text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number <= MOST) return number;
  throw new InvalidArgumentError(`It must be an integer up to ${MOST}.`);
}

const HEAD = ['MAP', 'ENTRIES', 'ROOM', 'MEMORY', 'WHILE IT GROWS'];

/** For a person. */
export function sizeTable(maps: readonly MapSize[]): string {
  const rows = maps.map(({ map, entries, room, bytes, whileGrowingBytes }) => [
    map,
    entries === undefined ? '' : String(entries),
    room === 0 ? '' : String(room),
    inMegabytes(bytes),
    whileGrowingBytes === 0 ? '' : inMegabytes(whileGrowingBytes),
  ]);
  const total = maps.reduce((sum, { bytes }) => sum + bytes, 0);
  return formatTextTable([HEAD, ...rows, ['total', '', '', inMegabytes(total)]]);
}

/** Megabytes of a million bytes, as `bpftool` counts. */
function inMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 10_000 ? 4 : 2)} MB`;
}
