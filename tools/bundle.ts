/**
 * `npm run bundle`: the program in one file that Node runs as it is, dist/fairlead.mjs. Another
 * entry and another file may be given, as for measuring a part of it in the form it is shipped in.
 */
import { join } from 'node:path';
import { build } from 'esbuild';

const root = join(import.meta.dirname, '..');
const [entry = 'src/main.ts', outfile = 'dist/fairlead.mjs'] = process.argv.slice(2);

await build({
  absWorkingDir: root,
  entryPoints: [entry],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node24',
  // It loads a binary from a folder beside its own file.
  external: ['koffi'],
  // Packages written for CommonJS, such as yaml, ask for Node's modules by `require`.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
