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

const EVERY_SRC_LAYER = [
  'modes',
  'doctor',
  'explain',
  'config',
  'cluster',
  'forwarding',
  'agent',
  'data-plane contract',
  'data-plane shared',
  'data-plane mode',
  'flows',
  'linux',
  'addresses',
  'labels',
  'log',
  'time',
];

export const LAYERS: readonly Layer[] = [
  {
    name: 'commands',
    paths: ['src/main.ts', 'src/wings/kubectl/kubectl-fairlead.ts', 'src/commands/'],
    uses: ['page files', ...EVERY_SRC_LAYER],
    packages: ['commander', 'yaml'],
    builtins: 'ordinary',
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
    // The forwarder of mode userspace, a program of its own.
    name: 'forwarder',
    paths: ['src/wings/userspace/forwarder.ts'],
    uses: ['data-plane mode'],
    packages: [],
    builtins: ['node:worker_threads'],
  },
  {
    // A mode is one value: what differs between modes outside of their data planes.
    name: 'modes',
    paths: ['src/modes/'],
    uses: [
      'time',
      'log',
      'config',
      'forwarding',
      'agent',
      'data-plane contract',
      'data-plane shared',
      'data-plane mode',
      'flows',
      'linux',
      'addresses',
    ],
    packages: [],
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
    // What several modes need. Must come before the modes, whose path matches this folder too.
    name: 'data-plane shared',
    paths: ['src/dataplanes/shared/'],
    uses: ['data-plane contract', 'forwarding', 'linux', 'addresses', 'time'],
    packages: [],
    builtins: 'ordinary',
  },
  {
    name: 'data-plane mode',
    paths: ['src/dataplanes/*/'],
    uses: [
      'data-plane contract',
      'data-plane shared',
      'forwarding',
      'linux',
      'addresses',
      'log',
      'time',
    ],
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
      'commands',
      'page files',
      'forwarder',
      ...EVERY_SRC_LAYER,
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
