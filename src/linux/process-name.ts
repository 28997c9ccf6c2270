import { writeFileSync } from 'node:fs';

/**
 * Names the process for `ps`, `top` and all readers of /proc/PID/comm, such as the drift reports of
 * another Fairlead: Node calls its first thread MainThread. `process.title` would do it too, but
 * overwrites the command line, which then shows no flags.
 */
export function nameProcess(name: string): void {
  try {
    writeFileSync('/proc/self/comm', name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    process.title = name;
  }
}
