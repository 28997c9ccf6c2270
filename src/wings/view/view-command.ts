import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { readNode } from '../../agent/servers/status-client.ts';
import { CommandError } from '../../commands/command-error.ts';
import { printPage, printWarning } from '../../commands/terminal/print.ts';
import { RUN_FOLDER, STATUS_SOCKET } from '../../config/run-folder.ts';
import { systemClock } from '../../time/clock.ts';
import { assertSameConntrack } from '../top/open-watch.ts';
import { EventStreams } from './event-streams.ts';
import { NodeData } from './node-data.ts';
import { pageFolder, readPageFiles } from './page-files.ts';
import { type FirstEvent, openViewServer } from './server.ts';
import { Session } from './session.ts';
import { problemOf } from './view-problem.ts';

interface ViewOptions {
  readonly port: number;
  readonly allowProbes?: true;
  readonly untilInputEnds?: true;
  readonly runFolder: string;
}

const ANY_PORT = 0;
const MOST_PORT = 65_535;
const TOKEN_BYTES = 32;
const STREAM_LIMITS = { streams: 8, unreadBytes: 256 * 1024 };

/** `fairlead view`: what this node does, as a page in the browser. */
export function viewCommand(): Command {
  return new Command('view')
    .description(
      'show in the browser what this node does: who asks, which Services are busy, where connections end, what changed and why; on loopback only, with a token, and read-only',
    )
    .option('--port <number>', 'the port to listen on; default: any free one', readPort, ANY_PORT)
    .option('--allow-probes', 'let the page send the packets of `fairlead explain --probe`')
    .option(
      '--until-input-ends',
      'end with standard input, too: `kubectl exec -i` closes it, and sends no signal',
    )
    .option('--run-folder <path>', 'the folder with the status socket of the agent', RUN_FOLDER)
    .action(view);
}

async function view(options: ViewOptions): Promise<void> {
  const stop = new AbortController();
  const end = (): void => stop.abort();
  process.once('SIGINT', end);
  process.once('SIGTERM', end);
  if (options.untilInputEnds) process.stdin.once('end', end).once('error', end).resume();
  try {
    await serve(options, stop.signal);
  } finally {
    stop.abort();
    process.off('SIGINT', end);
    process.off('SIGTERM', end);
    if (options.untilInputEnds) process.stdin.destroy();
  }
}

async function serve(options: ViewOptions, signal: AbortSignal): Promise<void> {
  const { runFolder } = options;
  const files = pageFiles();
  const socketPath = join(runFolder, STATUS_SOCKET);
  assertSameConntrack(await readNode({ socketPath }), 'view');
  const mayProbe = options.allowProbes === true;
  const streams = new EventStreams(STREAM_LIMITS);
  const session = new Session({
    socketPath,
    clock: systemClock,
    followers: () => streams.count,
    onTick: (json) => streams.send('tick', json),
    onTrouble: (problem) => streams.send('trouble', JSON.stringify(problem)),
    onRecovery: () => sayHello(data, streams).catch(warn),
    onProblem: warn,
    signal,
  });
  const data = new NodeData({ runFolder, session, clock: systemClock, mayProbe });
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  const { port, closed } = await openViewServer(
    {
      port: options.port,
      token,
      site: { files, data, mayProbe },
      streams,
      onFollow: async () => await firstEvent(data, session),
      onProblem: warn,
    },
    signal,
  );
  printPage(`http://127.0.0.1:${port}/?token=${token}`);
  printPage(`${mayProbe ? 'may send probes, else ' : ''}read-only; Ctrl-C ends it`);
  await closed;
  await session.ended();
}

function pageFiles(): ReturnType<typeof readPageFiles> {
  const folder = pageFolder();
  if (folder !== undefined) return readPageFiles(folder);
  throw new CommandError('the files of the page are missing beside the program', {
    code: 'PAGE_MISSING',
    next: 'install Fairlead again: the folder view/ belongs to it',
  });
}

/** What a page draws before the first tick. */
async function firstEvent(data: NodeData, session: Session): Promise<FirstEvent> {
  // Of a failure the session tells every page.
  session.watch().catch(() => undefined);
  try {
    return { event: 'hello', json: JSON.stringify(await data.hello()) };
  } catch (error) {
    const { problem } = problemOf(error);
    if (problem.code === 'INTERNAL') warn(error);
    return { event: 'trouble', json: JSON.stringify(problem) };
  }
}

async function sayHello(data: NodeData, streams: EventStreams): Promise<void> {
  streams.send('hello', JSON.stringify(await data.hello()));
}

function warn(error: unknown): void {
  const { problem } = problemOf(error);
  const details = error instanceof Error ? (error.stack ?? error.message) : String(error);
  printWarning(problem.code === 'INTERNAL' ? details : problem.message);
}

function readPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= MOST_PORT) return port;
  throw new InvalidArgumentError(`pass a number from 0 to ${MOST_PORT}`);
}
