import { readFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import { basename, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { blocksOf, type FileBlocks } from './blocks.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const FOLDER = new URL('../../../src/forwarding/', import.meta.url).href;

/** Where the policy is: what may be forwarded to, and what becomes of a connection. */
const POLICY_FILES = [
  'service-ports.ts',
  'endpoints.ts',
  'selection.ts',
  'outcomes.ts',
  'compile.ts',
  'candidates.ts',
  'health.ts',
] as const;

/** The engine's own count of what ran. Only what is loaded after the start is counted in full. */
export class Coverage {
  readonly #session = new Session();

  async start(): Promise<void> {
    this.#session.connect();
    await this.#session.post('Profiler.enable');
    await this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  async take(): Promise<FileBlocks[]> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    this.#session.disconnect();
    return await Promise.all(
      POLICY_FILES.map(async (name) => {
        const script = result.find(({ url }) => url === `${FOLDER}${name}`);
        if (!script) throw new Error(`${basename(FOLDER)}/${name} was never loaded`);
        const path = fileURLToPath(script.url);
        const source = await readFile(path, 'utf8');
        const functions = script.functions.map(({ ranges }) => ranges);
        return { file: relative(ROOT, path), ...blocksOf(source, functions) };
      }),
    );
  }
}
