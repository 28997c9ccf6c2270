import { readFile } from 'node:fs/promises';
import { LabError } from '../host/errors.ts';
import { enterNamespace } from '../host/namespaces.ts';
import { assertRunning, type Daemon, startDaemon } from '../host/processes.ts';
import { run } from '../host/run.ts';
import { until } from '../host/until.ts';

/** How a connection ends; lab/parts/bench/streams.go describes each. */
export type Ending =
  | 'client-ends'
  | 'server-ends'
  | 'client-resets'
  | 'server-resets'
  | 'at-once'
  | 'slow';

/** What one side counted. */
export interface StreamCounts {
  readonly right: Readonly<Partial<Record<Ending, number>>>;
  readonly wrong: Readonly<Partial<Record<Ending, number>>>;
  /** The first ones, in words. */
  readonly faults: readonly string[];
  /** Of the server: connections that the client reset before the server knew how they were to end. */
  readonly withoutHead?: number;
  readonly bytes: number;
}

export interface StreamServer {
  readonly daemon: Daemon;
  /** Ends it, and gives what it counted. Connections that are open then are not in it. */
  stop(): Promise<StreamCounts>;
}

const START_DEADLINE_MS = 10_000;

/** A server on one port of every address of a namespace. `program`: see provideBench. */
export async function serveStreams(of: {
  readonly program: string;
  readonly namespacePath: string;
  readonly port: number;
  readonly logFile: string;
}): Promise<StreamServer> {
  const daemon = startDaemon({
    name: 'stream server',
    namespacePath: of.namespacePath,
    argv: [of.program, 'streams', 'serve', `--port=${of.port}`],
    logFile: of.logFile,
  });
  const lines = async (): Promise<string[]> => (await readFile(of.logFile, 'utf8')).split('\n');
  await until(
    async () => {
      await assertRunning(daemon);
      return (await lines()).includes('serving');
    },
    { what: 'the stream server', deadlineMs: START_DEADLINE_MS },
  );
  return {
    daemon,
    stop: async () => {
      await daemon.stop();
      const counts = (await lines()).findLast((line) => line.startsWith('{'));
      if (counts !== undefined) return JSON.parse(counts) as StreamCounts;
      throw new LabError('LAB_PROCESS_ENDED', 'the stream server ended without its counts', {
        next: `read ${of.logFile}`,
      });
    },
  };
}

export interface StreamQuestion {
  readonly program: string;
  readonly namespacePath: string;
  /** `address:port`, an IPv6 address in brackets. */
  readonly to: string;
  readonly connections: number;
  /** Connections at once. */
  readonly workers: number;
  readonly mostBytes?: number;
  /** Each side of a connection is idle once, for at most this time. */
  readonly pauseMs?: number;
  readonly seed?: number;
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Opens so many connections, with every byte checked, and counts how they ended. */
export async function askStreams(of: StreamQuestion): Promise<StreamCounts> {
  const { mostBytes, pauseMs, seed, deadlineMs, signal } = of;
  const argv: [string, ...string[]] = [
    of.program,
    'streams',
    'ask',
    `--to=${of.to}`,
    `--connections=${of.connections}`,
    `--workers=${of.workers}`,
    ...(mostBytes === undefined ? [] : [`--most-bytes=${mostBytes}`]),
    ...(pauseMs === undefined ? [] : [`--pause=${pauseMs}ms`]),
    ...(seed === undefined ? [] : [`--seed=${seed}`]),
  ];
  const output = await run(enterNamespace(of.namespacePath, argv), { deadlineMs, signal });
  return JSON.parse(output) as StreamCounts;
}

export function countOf(by: StreamCounts['right']): number {
  return Object.values(by).reduce((sum, each) => sum + each, 0);
}
