import { WINGS, type WingRow } from '../wings/table.ts';

/**
 * The layers of the project and what each may import. `npm run check` and a
 * test check every source file against this table. docs/architecture.md has the picture.
 */
export interface Layer {
  readonly name: string;
  /**
   * Files, or folders with everything below them when they end in `/`. The path with the most
   * parts wins. A `*` stands for one folder name, and the folders it matches are closed to each
   * other although they share a row.
   */
  readonly paths: readonly string[];
  /** Layers it may import from. A layer may always import from itself. */
  readonly uses: readonly string[];
  /** Layers from which it may import types only, by `import type`. */
  readonly typesFrom?: readonly string[];
  /** Layers from which it may load modules when they are used, by `import()`: it needs none of them. */
  readonly loads?: readonly string[];
  readonly packages: readonly string[];
  /** `ordinary`: all of Node's modules except the restricted ones. A list: only these. */
  readonly builtins: 'ordinary' | readonly string[];
  /** Restricted modules that it may use. */
  readonly restricted?: readonly RestrictedModule[];
}

/** Modules that can bypass this table, so each needs a row that names it. */
export const RESTRICTED_MODULES = {
  'node:child_process': 'starts processes',
  'node:cluster': 'starts processes',
  'node:ffi': 'calls into C libraries',
  'node:module': 'can load modules that no import names',
} as const;

export type RestrictedModule = keyof typeof RESTRICTED_MODULES;

/** What test files may import in every layer. */
export const TEST_IMPORTS: readonly string[] = ['node:assert/strict', 'node:test', 'fast-check'];

/** The rooms that every build has, from the top. */
const CORE = [
  'mode registry',
  'doctor',
  'explain',
  'modes',
  'config',
  'cluster',
  'agent',
  'nftables',
  'data-plane shared',
  'data-plane contract',
  'flows',
  'forwarding',
  'linux',
  'addresses',
  'labels',
  'log',
  'time',
];

/** What the value of a mode may use: nothing that asks for modes. */
const BELOW_MODES = [
  'modes',
  'config',
  'forwarding',
  'agent',
  'data-plane contract',
  'data-plane shared',
  'nftables',
  'flows',
  'linux',
  'addresses',
  'log',
  'time',
];

const PLANE = [
  'data-plane contract',
  'data-plane shared',
  'forwarding',
  'linux',
  'addresses',
  'log',
  'time',
];

const WING_LAYERS = WINGS.map(({ name }) => `wing ${name}`);
const WORDS_LAYERS = WINGS.filter(({ kind }) => kind === 'mode').map(
  ({ name }) => `words of ${name}`,
);

/** A wing knows the core and what it stands on; nothing knows a wing but what loads it. */
function wingLayers(wing: WingRow): readonly Layer[] {
  const { name, kind, standsOn = [] } = wing;
  const itsLinux = `linux of ${name}`;
  const itsPlane = `plane of ${name}`;
  const commands: Layer = {
    name: `wing ${name}`,
    paths: [`src/wings/${name}/`],
    uses: [
      'commands',
      'page files',
      ...CORE,
      itsLinux,
      ...standsOn.map((other) => `wing ${other}`),
    ],
    packages: ['commander', 'yaml'],
    builtins: 'ordinary',
  };
  const mode: readonly Layer[] = [
    {
      // What `fairlead status` says of the mode: printed by the command, which loads it.
      name: `words of ${name}`,
      paths: [
        `src/wings/${name}/${name}-status-words.ts`,
        `src/wings/${name}/${name}-status-words.test.ts`,
      ],
      uses: [`wing ${name}`, itsPlane, ...BELOW_MODES, 'commands'],
      packages: [],
      builtins: 'ordinary',
    },
    {
      name: `wing ${name}`,
      paths: [`src/wings/${name}/`],
      uses: [...BELOW_MODES, itsPlane, itsLinux],
      packages: [],
      builtins: 'ordinary',
    },
    {
      name: itsPlane,
      paths: [`src/wings/${name}/plane/`],
      uses: [...PLANE, itsLinux],
      packages: [],
      builtins: 'ordinary',
    },
  ];
  return [
    ...(kind === 'mode' ? mode : [commands]),
    {
      name: itsLinux,
      paths: [`src/linux/${name}/`],
      uses: ['linux', 'addresses', 'time'],
      packages: ['koffi'],
      builtins: 'ordinary',
      restricted: ['node:child_process'],
    },
  ];
}

const WING_ROOMS = WINGS.flatMap(wingLayers);

export const LAYERS: readonly Layer[] = [
  {
    name: 'program',
    paths: [
      'src/main.ts',
      'src/command-tree.ts',
      'src/command-tree.test.ts',
      'src/program.test.ts',
    ],
    uses: ['commands', 'wing commands', 'wing registry', 'modes', 'linux'],
    packages: ['commander'],
    builtins: 'ordinary',
  },
  {
    name: 'wing commands',
    paths: ['src/wings/commands.ts'],
    uses: [],
    typesFrom: ['modes'],
    loads: [...WING_LAYERS, 'size command'],
    packages: [],
    builtins: [],
  },
  {
    // Removes types from the scripts of `fairlead view`, which a browser loads.
    name: 'page files',
    paths: ['src/wings/view/page-files.ts'],
    uses: [],
    packages: [],
    builtins: ['node:fs', 'node:path'],
    restricted: ['node:module'],
  },
  {
    // A command of a mode, which asks for no mode.
    name: 'size command',
    paths: ['src/wings/ebpf/size-command.ts', 'src/wings/ebpf/size-table.test.ts'],
    uses: ['commands', 'plane of ebpf', 'config', 'linux of ebpf'],
    packages: ['commander'],
    builtins: 'ordinary',
  },
  {
    // The forwarder of mode userspace, a program of its own.
    name: 'forwarder',
    paths: ['src/wings/userspace/forwarder.ts'],
    uses: ['plane of userspace'],
    packages: [],
    builtins: ['node:worker_threads'],
  },
  ...WING_ROOMS,
  {
    name: 'commands',
    paths: ['src/commands/'],
    uses: ['wing registry', ...CORE],
    packages: ['commander', 'yaml'],
    builtins: 'ordinary',
  },
  {
    name: 'mode registry',
    paths: [
      'src/modes/mode-registry.ts',
      'src/modes/mode-registry.test.ts',
      'src/modes/attachment-words.ts',
      'src/modes/remove-other-parts.test.ts',
    ],
    uses: ['wing registry', 'modes', 'config', 'data-plane contract', 'log', 'time'],
    packages: [],
    builtins: [],
  },
  {
    // The one file by which the core reaches wings.
    name: 'wing registry',
    paths: ['src/wings/wing-registry.ts', 'src/wings/testing/'],
    uses: [],
    typesFrom: ['modes', 'linux'],
    loads: [...WING_LAYERS, ...WORDS_LAYERS],
    packages: [],
    builtins: [],
  },
  {
    // What a mode is, and the one that every build has.
    name: 'modes',
    paths: ['src/modes/'],
    uses: BELOW_MODES.filter((name) => name !== 'modes'),
    typesFrom: ['cluster'],
    packages: ['commander'],
    builtins: 'ordinary',
  },
  {
    // What on this machine would break Services: reads, and changes nothing.
    name: 'doctor',
    paths: ['src/doctor/'],
    uses: ['forwarding', 'data-plane contract', 'linux', 'addresses', 'time'],
    typesFrom: ['agent'],
    packages: [],
    builtins: 'ordinary',
  },
  {
    // Joins what is predicted, what the agent says and what a packet proves.
    name: 'explain',
    paths: ['src/explain/'],
    uses: ['forwarding', 'addresses'],
    typesFrom: ['agent', 'linux'],
    packages: [],
    builtins: [],
  },
  {
    name: 'config',
    paths: ['src/config/'],
    uses: ['addresses', 'labels', 'time'],
    packages: ['yaml', 'zod'],
    builtins: 'ordinary',
  },
  {
    name: 'cluster',
    paths: ['src/cluster/'],
    uses: ['addresses', 'labels', 'time'],
    packages: ['yaml'],
    builtins: 'ordinary',
  },
  {
    // Pure: same input, same output, with no way to reach a file, a clock or a socket.
    name: 'forwarding',
    paths: ['src/forwarding/'],
    uses: ['addresses'],
    typesFrom: ['cluster'],
    packages: [],
    builtins: [],
  },
  {
    // Contracts only: which source and which mode it drives is decided in commands.
    name: 'agent',
    paths: ['src/agent/'],
    uses: ['forwarding', 'data-plane contract', 'addresses', 'log', 'time'],
    typesFrom: ['cluster', 'config'],
    packages: [],
    builtins: 'ordinary',
  },
  {
    name: 'data-plane contract',
    paths: ['src/dataplanes/'],
    uses: ['forwarding', 'addresses', 'time'],
    packages: [],
    builtins: 'ordinary',
  },
  {
    // What several planes need.
    name: 'data-plane shared',
    paths: ['src/dataplanes/shared/'],
    uses: ['data-plane contract', 'forwarding', 'linux', 'addresses', 'time'],
    packages: [],
    builtins: 'ordinary',
  },
  {
    name: 'nftables',
    paths: ['src/dataplanes/nftables/'],
    uses: PLANE,
    packages: [],
    builtins: 'ordinary',
  },
  {
    name: 'flows',
    paths: ['src/flows/'],
    uses: ['forwarding', 'linux', 'addresses', 'time'],
    packages: [],
    builtins: 'ordinary',
  },
  {
    // Knows the kernel and nothing of Kubernetes.
    name: 'linux',
    paths: ['src/linux/'],
    uses: ['addresses', 'time'],
    packages: ['koffi'],
    builtins: 'ordinary',
    restricted: ['node:child_process'],
  },
  {
    name: 'addresses',
    paths: ['src/addresses/'],
    uses: [],
    packages: [],
    builtins: ['node:net'],
  },
  {
    // Label selectors and names, for what is configured and what is read alike.
    name: 'labels',
    paths: ['src/labels/'],
    uses: [],
    packages: [],
    builtins: [],
  },
  {
    // What is logged; where and how is decided in commands.
    name: 'log',
    paths: ['src/log/'],
    uses: [],
    packages: [],
    builtins: [],
  },
  {
    name: 'time',
    paths: ['src/time/'],
    uses: [],
    packages: [],
    // For its tests: node:events.
    builtins: ['node:timers/promises', 'node:events'],
  },
  {
    // The test beds test src, so they must not import it.
    name: 'lab',
    paths: ['lab/'],
    uses: ['lab host', 'addresses'],
    packages: ['commander', 'yaml'],
    builtins: 'ordinary',
  },
  {
    name: 'lab host',
    paths: ['lab/host/'],
    uses: ['addresses'],
    packages: ['koffi'],
    builtins: 'ordinary',
    restricted: ['node:child_process'],
  },
  {
    name: 'conformance',
    paths: ['conformance/'],
    uses: ['lab', 'lab host', 'addresses'],
    packages: ['commander', 'yaml'],
    builtins: 'ordinary',
  },
  {
    name: 'bench',
    paths: ['bench/'],
    uses: ['lab', 'lab host', 'conformance', 'addresses'],
    packages: ['commander', 'yaml'],
    builtins: 'ordinary',
  },
  {
    name: 'e2e',
    paths: ['e2e/'],
    uses: ['lab', 'lab host', 'addresses'],
    packages: ['commander'],
    builtins: 'ordinary',
  },
  {
    // Parts of src against real counterparts. Tests only: no other layer may import it.
    name: 'integration',
    paths: ['integration/'],
    uses: [
      'program',
      'commands',
      'page files',
      'forwarder',
      'wing registry',
      ...WING_ROOMS.map(({ name }) => name),
      ...CORE,
      'lab',
      'lab host',
      'conformance',
      'bench',
    ],
    packages: ['commander', 'fast-check', 'yaml'],
    builtins: 'ordinary',
  },
  {
    name: 'packaging',
    paths: [
      'tools/bundle.ts',
      'tools/package.ts',
      'tools/plugin.ts',
      'tools/chart/',
      'tools/image/',
      'tools/release/',
    ],
    // For the programs that are compiled for the kernel.
    uses: ['tools'],
    packages: ['esbuild'],
    builtins: 'ordinary',
  },
  {
    // Without packages, so that the checks run even when an install is broken.
    name: 'tools',
    paths: ['tools/'],
    uses: [],
    packages: [],
    builtins: 'ordinary',
    restricted: ['node:child_process', 'node:module'],
  },
];
