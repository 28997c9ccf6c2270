import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { run } from '../../netlink/testing/own-namespace.ts';
import type { Answer, Peer, Question, Request, Response } from './host-messages.ts';

export const SERVED_PORT = 8080;
const DEADLINE_MS = 120_000;
const AGENT = fileURLToPath(new URL('./host-agent.ts', import.meta.url));

/** A machine of a test: a process in a network namespace without a name. It serves and asks. */
export interface Host {
  readonly name: string;
  readonly pid: number;
  /** Runs lines of `ip -batch` there. */
  ip(...lines: readonly string[]): void;
  run(argv: readonly [string, ...string[]], input?: string): string;
  ask(question: Question): Promise<readonly Answer[]>;
  /** Rejects when no host is reached. */
  hold(peer: Peer): Promise<HeldPeer>;
  close(): void;
}

export interface HeldPeer {
  /** Sends one word, and returns the name of the server that answers. */
  speak(): Promise<Answer>;
}

/** `here`: in the namespace of the test instead of one of its own. */
export async function startHost(name: string, { here = false } = {}): Promise<Host> {
  const program = [process.execPath, AGENT, name, String(SERVED_PORT)] as const;
  const [command, ...args] = here ? program : (['unshare', '-n', ...program] as const);
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  // Every pending request has a timer. Without one the test may end, and this process with it.
  child.unref();
  child.channel?.unref();
  const talk = new Talk(name, child);
  await talk.answer(0);
  const pid = child.pid ?? 0;
  const inside = (argv: readonly string[], input = ''): string =>
    run(['nsenter', '-t', String(pid), '-n', ...argv], input);
  if (!here) inside(['ip', 'link', 'set', 'lo', 'up']);
  return {
    name,
    pid,
    ip: (...lines) => void inside(['ip', '-batch', '-'], `${lines.join('\n')}\n`),
    run: inside,
    ask: (question) => talk.ask({ what: 'ask', question }),
    hold: async (peer) => {
      const { id, answers } = await talk.request({ what: 'hold', peer });
      const [failed] = answers;
      if (failed) throw new Error(`${name} reaches nobody: ${failed.by}`);
      return { speak: () => talk.speak(id) };
    },
    close: () => {
      child.disconnect();
    },
  };
}

/** `Omit` for each of several shapes. */
type Unnumbered<T> = T extends unknown ? Omit<T, 'id'> : never;

/** Pending requests by number. */
class Talk {
  readonly #name: string;
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, PromiseWithResolvers<readonly Answer[]>>();
  #last = 0;

  constructor(name: string, child: ChildProcess) {
    this.#name = name;
    this.#child = child;
    child.on('message', ({ id, answers }: Response) => this.#waiting.get(id)?.resolve(answers));
    child.on('exit', (code) => this.#fail(`ended with ${code}`));
    child.on('error', (error) => this.#fail(String(error)));
  }

  async request(request: Unnumbered<Request>): Promise<{ id: number; answers: readonly Answer[] }> {
    this.#last += 1;
    const id = this.#last;
    const answers = this.answer(id);
    this.#child.send({ ...request, id });
    return { id, answers: await answers };
  }

  async ask(request: Unnumbered<Request>): Promise<readonly Answer[]> {
    return (await this.request(request)).answers;
  }

  async speak(held: number): Promise<Answer> {
    const [answer] = await this.ask({ what: 'speak', held, say: 'hello' });
    if (answer === undefined) throw new Error(`${this.#name} says nothing`);
    return answer;
  }

  async answer(id: number): Promise<readonly Answer[]> {
    const waiting = Promise.withResolvers<readonly Answer[]>();
    this.#waiting.set(id, waiting);
    const late = (): void => waiting.reject(new Error(`the host ${this.#name} does not answer`));
    const timer = setTimeout(late, DEADLINE_MS);
    try {
      return await waiting.promise;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
    }
  }

  #fail(why: string): void {
    for (const { reject } of this.#waiting.values()) {
      reject(new Error(`the host ${this.#name} ${why}`));
    }
  }
}
