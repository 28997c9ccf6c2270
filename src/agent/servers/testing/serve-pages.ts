import type { TestContext } from 'node:test';
import type { OpenServer } from '../open-server.ts';
import type { ServerError } from '../server-error.ts';

export interface Served {
  readonly port: number;
  readonly problems: ServerError[];
  /** Ends it, and resolves when it has ended. */
  stop(): Promise<void>;
}

type Run = (hooks: Hooks, signal: AbortSignal) => Promise<void>;

interface Hooks {
  readonly onOpen: (server: OpenServer) => void;
  readonly onProblem: (problem: ServerError) => void;
}

/** Runs a server until the test ends; resolves when it listens. */
export async function serve(t: TestContext, run: Run): Promise<Served> {
  const stop = new AbortController();
  const opened = Promise.withResolvers<OpenServer>();
  const problems: ServerError[] = [];
  const hooks = {
    onOpen: opened.resolve,
    onProblem: (problem: ServerError) => problems.push(problem),
  };
  const running = run(hooks, stop.signal);
  running.catch(opened.reject);
  const end = async (): Promise<void> => {
    stop.abort();
    await running;
  };
  t.after(end);
  const { port } = await opened.promise;
  return { port, problems, stop: end };
}

export interface Heard {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

export async function ask(url: string, method = 'GET'): Promise<Heard> {
  // Without keep-alive, so that no idle connection outlives the test.
  const headers = { connection: 'close' };
  const response = await fetch(url, { method, headers, signal: AbortSignal.timeout(10_000) });
  return { status: response.status, headers: response.headers, body: await response.text() };
}
