import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { forwarderError } from './forwarder-error.ts';

/** The forwarder's program, and its digest. */
export interface ForwarderProgram {
  readonly path: string;
  readonly digest: string;
}

const DIGEST_CHARACTERS = 16;

/** The first of these paths that exists. */
export function readProgram(paths: readonly string[]): ForwarderProgram {
  for (const path of paths) {
    const bytes = readIfThere(path);
    if (bytes === undefined) continue;
    const digest = createHash('sha256').update(bytes).digest('hex');
    return { path, digest: digest.slice(0, DIGEST_CHARACTERS) };
  }
  throw forwarderError(
    'FORWARDER_MISSING',
    `the program of the forwarder was not found: ${paths.join(', ')}`,
    { next: 'reinstall the package, or use mode nftables' },
  );
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
