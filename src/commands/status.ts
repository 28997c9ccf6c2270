import { join } from 'node:path';
import { Command, Option } from 'commander';
import { readCounters, readStatus } from '../agent/servers/status-client.ts';
import type { AgentSnapshot } from '../agent/snapshot.ts';
import type { EndpointCount } from '../dataplanes/contract.ts';
import { RUN_FOLDER, STATUS_SOCKET } from './run/folder.ts';
import { countersView, isWell, statusView } from './status/view.ts';
import { printJson, printPage } from './terminal/print.ts';

interface StatusOptions {
  readonly runFolder: string;
  readonly counters?: true;
  readonly output: 'text' | 'json';
}

const NOT_WELL = 3;

/** `fairlead status`: how the process on this machine is doing, in its own words. */
export function statusCommand(): Command {
  return new Command('status')
    .description(
      `how the Fairlead that runs on this machine is doing; exit code ${NOT_WELL} if it is not ready`,
    )
    .option('--run-folder <path>', 'where its status socket is', RUN_FOLDER)
    .option('--counters', 'connections that each endpoint got, as the kernel counts them')
    .addOption(new Option('-o, --output <form>').choices(['text', 'json']).default('text'))
    .action(show);
}

async function show(options: StatusOptions): Promise<void> {
  const socketPath = join(options.runFolder, STATUS_SOCKET);
  if (options.counters) {
    const counts = (await readCounters({ socketPath })) as EndpointCount[];
    if (options.output === 'json') printJson(counts);
    else printPage(countersView(counts));
    return;
  }
  const snapshot = (await readStatus({ socketPath })) as AgentSnapshot;
  if (options.output === 'json') printJson(snapshot);
  else printPage(statusView(snapshot));
  if (!isWell(snapshot)) process.exitCode = NOT_WELL;
}
