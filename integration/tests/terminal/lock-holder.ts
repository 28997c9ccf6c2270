/** `lock-holder.ts FOLDER`: a process that has become the only instance, until it is killed. */
import { becomeOnlyInstance } from '../../../src/commands/run/one-instance.ts';

const [folder = ''] = process.argv.slice(2);
const log = { info: () => undefined, warn: () => undefined };
await becomeOnlyInstance(
  { log, runFolder: folder, machineFolder: folder },
  new AbortController().signal,
);
setInterval(() => undefined, 60_000);
