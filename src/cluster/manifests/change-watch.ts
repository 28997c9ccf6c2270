import { type FSWatcher, watch } from 'node:fs';
import { foldersToWatch } from './manifest-files.ts';

const SETTLE_MS = 50;
/** Poll interval: some file systems send no events, and a folder may be created later. */
const LOOK_AGAIN_MS = 10_000;

/**
 * Calls back when something may have changed, one call at a time; a change during a call leads to
 * another call. Resolves when the signal aborts.
 */
export async function watchForChanges(
  paths: readonly string[],
  onChange: () => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const changed = Promise.withResolvers<void>();
    let settling: NodeJS.Timeout | undefined;
    const settle = (): void => {
      // An editor writes a file in several steps.
      settling ??= setTimeout(changed.resolve, SETTLE_MS);
    };
    const lookAgain = setTimeout(changed.resolve, LOOK_AGAIN_MS);
    signal.addEventListener('abort', settle, { once: true });
    const watchers = openWatchers(await foldersToWatch(paths), settle);
    try {
      // Read after the watch began: a change in between is seen by one or the other.
      await onChange();
      if (!signal.aborted) await changed.promise;
    } finally {
      for (const watcher of watchers) watcher.close();
      clearTimeout(lookAgain);
      clearTimeout(settling);
      signal.removeEventListener('abort', settle);
    }
  }
}

function openWatchers(folders: readonly string[], onChange: () => void): readonly FSWatcher[] {
  return folders.flatMap((folder) => {
    try {
      const watcher = watch(folder, { persistent: true }, onChange);
      watcher.on('error', onChange);
      return [watcher];
    } catch {
      // The path does not exist, or there are too many inotify watches: polling covers it.
      return [];
    }
  });
}
