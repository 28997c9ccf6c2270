import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';

export interface BundledProgram {
  readonly bytes: Uint8Array;
  readonly version: string;
  /** Whose code is in it. */
  readonly packages: readonly string[];
}

export const MAIN_ENTRY = 'src/main.ts';
/** The forwarder of mode userspace, which the program looks for beside its own file. */
export const FORWARDER_ENTRY = 'src/wings/userspace/forwarder.ts';
export const FORWARDER_PROGRAM = 'forwarder.mjs';
/** The plugin of kubectl, which asks the agents of all nodes; it needs no koffi. */
export const PLUGIN_ENTRY = 'src/wings/kubectl/kubectl-fairlead.ts';

/** Manifests that the plugin applies, below deploy/: it is one file, and has no checkout beside it. */
const MANIFEST_FILES = [
  'manifests/service-account.yaml',
  'manifests/daemonset.yaml',
  'leftovers/fairlead.yaml',
  'leftovers/kube-proxy.yaml',
];

/** A program of the sources as one file that Node runs as it is, with koffi in node_modules beside it. */
export async function bundleProgram(root: string, entry: string): Promise<BundledProgram> {
  const version = await versionOf(root);
  const { outputFiles, metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile: 'program.mjs',
    write: false,
    metafile: true,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    define: {
      FAIRLEAD_VERSION: JSON.stringify(version),
      FAIRLEAD_MANIFESTS: JSON.stringify(await manifestTexts(root)),
    },
    // It loads a binary from a folder beside its own file.
    external: ['koffi'],
    banner: { js: BANNER },
    plugins: [UNREAD_HTTP],
    logLevel: 'warning',
  });
  const [file] = outputFiles;
  if (file === undefined) throw new Error(`esbuild wrote no output for ${entry}`);
  return { bytes: file.contents, version, packages: packagesIn(metafile) };
}

/**
 * Importing a module of Node reads each of its exports. One of `node:http` is created when it is
 * read, and loads a WebSocket client that is not used here: 2 MB and 35 ms of a start.
 */
const UNREAD_HTTP: Plugin = {
  name: 'unread-http',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^node:http$/ }, ({ path }) => ({ path, namespace: 'unread' }));
    onLoad({ filter: /^/, namespace: 'unread' }, ({ path }) => {
      return { contents: `module.exports = process.getBuiltinModule(${JSON.stringify(path)})` };
    });
  },
};

/** Packages written for CommonJS, such as yaml, ask for Node's modules by `require`. */
const BANNER = `#!/usr/bin/env node
import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`;

async function manifestTexts(root: string): Promise<Readonly<Record<string, string>>> {
  const texts = MANIFEST_FILES.map(
    async (file): Promise<[string, string]> => [
      file,
      await readFile(join(root, 'deploy', file), 'utf8'),
    ],
  );
  return Object.fromEntries(await Promise.all(texts));
}

export async function versionOf(root: string): Promise<string> {
  const text = await readFile(join(root, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

function packagesIn({ inputs }: Metafile): string[] {
  const names = Object.keys(inputs).map(
    (path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1],
  );
  return [...new Set(names.filter((name) => name !== undefined))].sort();
}
