import { join } from 'node:path';
import { tryRun } from '../../../lab/host/run.ts';
import { until } from '../../../lab/host/until.ts';

const PROGRAM = join(import.meta.dirname, '../../../src/main.ts');
/** Wide: it starts from source, on a machine where other tests run. */
const DEADLINE_MS = 120_000;
const LIFE_MS = 10 * 60_000;

/** Fairlead as root of a container is: these capabilities and no others, and no way to get more. */
export interface LimitedProxy extends AsyncDisposable {
  /** Resolves to everything it has said when all of these are in it. */
  says(...words: readonly string[]): Promise<string>;
  /** Resolves to its exit code and everything it has said. */
  end(): Promise<{ readonly exitCode: number; readonly said: string }>;
}

export function startLimited(of: {
  readonly capabilities: readonly string[];
  readonly args: readonly string[];
}): LimitedProxy {
  const kept = ['-all', ...of.capabilities.map((name) => `+${name.toLowerCase()}`)].join();
  const limits = [`--bounding-set=${kept}`, '--inh-caps=-all', '--no-new-privs'];
  const stop = new AbortController();
  let said = '';
  const listen = (text: string): void => {
    said += text;
  };
  const running = tryRun(['setpriv', ...limits, process.execPath, PROGRAM, 'run', ...of.args], {
    deadlineMs: LIFE_MS,
    signal: stop.signal,
    onStdout: listen,
    onStderr: listen,
  });
  let hasEnded = false;
  const ended = running
    .catch((error: unknown) => {
      if (!stop.signal.aborted) throw error;
    })
    .finally(() => {
      hasEnded = true;
    });
  return {
    end: async () => ({ exitCode: (await running).exitCode, said }),
    async says(...words) {
      const isSaid = (): boolean => words.every((word) => said.includes(word));
      const what = `${of.capabilities.join()} to say ${words.join(' and ')}`;
      await until(() => isSaid() || hasEnded, { what, deadlineMs: DEADLINE_MS });
      if (!isSaid()) throw new Error(`timed out waiting for ${what}; output:\n${said}`);
      return said;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await ended;
    },
  };
}
