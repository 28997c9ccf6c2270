/**
 * `npm run bpf [-- SOURCE... [--into FOLDER] [--cpu v2]]`: compiles bpf/*.bpf.c, or the sources given,
 * into dist/bpf. The package carries the objects, so that no compiler is needed where it runs.
 */
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { CompileError, compile, USUAL_CPU } from './bpf/compile.ts';
import { programSources } from './bpf/objects.ts';

const root = join(import.meta.dirname, '..');
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    into: { type: 'string', default: 'dist/bpf' },
    cpu: { type: 'string', default: USUAL_CPU },
  },
});

const sources =
  positionals.length > 0 ? positionals.map((path) => resolve(path)) : await programSources(root);
const folder = resolve(root, values.into);
const stop = new AbortController();
process.once('SIGINT', () => stop.abort());

for (const source of sources) {
  try {
    const { path, cached } = await compile({
      root,
      source,
      folder,
      cpu: values.cpu,
      signal: stop.signal,
    });
    console.log(`${cached ? 'unchanged' : 'compiled '}  ${relative(root, path)}`);
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
