import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const ATTACKER = join(import.meta.dirname, 'folder-attacker.ts');
const NOBODY = 65_534;

export interface FolderAttacker extends AsyncDisposable {
  readonly ended: Promise<unknown>;
}

/** Resolves when its bait is laid out in the shared folder. */
export async function startFolderAttacker(shared: string, victim: string): Promise<FolderAttacker> {
  const child = spawn(process.execPath, [ATTACKER, shared, victim], {
    uid: NOBODY,
    gid: NOBODY,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  await once(child.stdout, 'data');
  return {
    ended,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
