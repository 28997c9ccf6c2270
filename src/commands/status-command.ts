import { join } from 'node:path';
import { Command, Option } from 'commander';
import { readCounters, readRows, readStatus } from '../agent/servers/status-client.ts';
import type { StatusPage } from '../agent/status-page.ts';
import { RUN_FOLDER, STATUS_SOCKET } from '../config/run-folder.ts';
import { KernelConntrack } from '../linux/conntrack/conntrack.ts';
import type { CopiedCount } from '../modes/copied-connections.ts';
import { modeOfAgent, statusWordsOf } from '../modes/mode-registry.ts';
import type { StatusWords } from '../modes/status-words.ts';
import { systemClock } from '../time/clock.ts';
import { tokenNote } from '../wings/wing-registry.ts';
import { connectionsView } from './status/connections-view.ts';
import { countersView } from './status/counters-view.ts';
import { readConnections } from './status/read-connections.ts';
import { servedFrontends } from './status/served-frontends.ts';
import { statusView } from './status/status-view.ts';
import { isWell } from './status/summary.ts';
import { troublesOf } from './status/trouble.ts';
import { printJson, printPage } from './terminal/print.ts';

interface StatusOptions {
  readonly runFolder: string;
  readonly verbose?: true;
  readonly counters?: true;
  readonly connections?: true | string;
  readonly all?: true;
  readonly output: 'text' | 'json';
}

const NOT_WELL = 3;
const USUAL_WIDTH = 80;
/** Connections shown by default. */
const CONNECTIONS_SHOWN = 100;
const READ_DEADLINE_MS = 60_000;

/** `fairlead status`: health of the agent on this machine. */
export function statusCommand(): Command {
  return new Command('status')
    .description(
      `show the health of the agent on this machine; exit code ${NOT_WELL} if it is not ready`,
    )
    .option('-v, --verbose', 'also show what is attached, all conditions, counts and latencies')
    .option(
      '--connections [service]',
      'list connections to Services, from conntrack and the forwarder; of one Service as NAMESPACE/NAME[:PORT]',
    )
    .option('--all', `with --connections: list all, not only the first ${CONNECTIONS_SHOWN}`)
    .option(
      '--counters',
      'show the number of new connections to each endpoint, and what the forwarder measured of them',
    )
    .option('--run-folder <path>', 'the folder with the status socket of the agent', RUN_FOLDER)
    .addOption(new Option('-o, --output <form>').choices(['text', 'json']).default('text'))
    .action(show);
}

async function show(options: StatusOptions): Promise<void> {
  const socketPath = join(options.runFolder, STATUS_SOCKET);
  if (options.connections !== undefined) return await showConnections(options, socketPath);
  if (options.counters) {
    const counts = (await readCounters({ socketPath })) as CopiedCount[];
    if (options.output === 'json') printJson(counts);
    else printPage(countersView(counts));
    return;
  }
  const page = (await readStatus({ socketPath })) as StatusPage;
  const words = await statusWordsOf(page.mode);
  if (options.output === 'json') {
    printJson({ ...page, isReady: isWell(page), troubles: troublesOf(page, words) });
  } else await showPage(page, words, options);
  if (!isWell(page)) process.exitCode = NOT_WELL;
}

async function showPage(
  page: StatusPage,
  words: StatusWords | undefined,
  options: StatusOptions,
): Promise<void> {
  printPage(statusView(page, { isVerbose: options.verbose === true, width: width(), words }));
  // An agent with another folder is not the one that `fairlead outside` set up.
  if (options.runFolder !== RUN_FOLDER) return;
  const note = await tokenNote(systemClock.wallMs());
  if (note !== undefined) printPage(note);
}

async function showConnections(options: StatusOptions, socketPath: string): Promise<void> {
  const { mode } = (await readStatus({ socketPath })) as StatusPage;
  const rows = await readRows({ socketPath });
  const frontends = servedFrontends(rows.map(({ forwarding }) => forwarding));
  const wanted = {
    most: options.all ? Number.POSITIVE_INFINITY : CONNECTIONS_SHOWN,
    ...(typeof options.connections === 'string' ? { service: options.connections } : {}),
  };
  const { copied, unseenConnections: unseen } = (await modeOfAgent(mode)) ?? {};
  const shown = await readConnections(frontends, wanted, {
    conntrack: new KernelConntrack(),
    ...(copied ? { forwarder: { copied, runFolder: options.runFolder } } : {}),
    unseen,
    nowMs: systemClock.wallMs(),
    signal: AbortSignal.timeout(READ_DEADLINE_MS),
  });
  if (options.output === 'json') printJson(shown);
  else printPage(connectionsView(shown, width()));
}

/** Width of the terminal; the default for pipes and files. */
function width(): number {
  return process.stdout.columns ?? USUAL_WIDTH;
}
