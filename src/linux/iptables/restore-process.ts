import { type ChildProcess, type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { IptablesError } from '../xtables/iptables-error.ts';
import { type IptablesFamily, toolName } from '../xtables/iptables-programs.ts';

/**
 * Its output goes through a buffer of at most 4096 bytes (glibc, for a pipe), so an acknowledgement
 * must be longer than two of them to come out at once; and a line of input has room for 10,239.
 */
const ACK_BYTES = 9000;
const PADDING = 'x'.repeat(ACK_BYTES);
const ACK = /# ack (\d+) /g;
/** Acknowledged tables per process; a new one then replaces it, because its memory grows. */
const MOST_COMMITS = 2000;
const MOST_COMPLAINT = 4000;
/** Events of an ended process may arrive for this long; later its PID may be reused. */
const LAST_EVENTS_MS = 10_000;

export interface RestoreOptions {
  readonly program: string;
  readonly family: IptablesFamily;
  /** How long it waits for the lock of the tables. The nft backend has none. */
  readonly lockSeconds: number;
  /** Deadline of a commit; after it the state is unknown. */
  readonly commitDeadlineMs: number;
  /** Idle time after which the process is ended; the next commit starts another. */
  readonly idleMs: number;
}

interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  /** Lines that it has been given. */
  lineCount: number;
  commitCount: number;
  complaint: string;
  output: string;
}

/**
 * A long-running `iptables-restore --noflush`: it commits a table at each COMMIT it reads, and
 * takes the lock only from `*table` to COMMIT (the nft backend has none). With `-v` it prints only
 * the comments it reads, so a comment after COMMIT acknowledges that the table is in the kernel.
 * Starting it for each change would cost a fork of a large process.
 */
export class RestoreProcess implements Disposable {
  readonly #options: RestoreOptions;
  #running: Running | undefined;
  #waiting: { sequence: number; settle: (error?: IptablesError) => void } | undefined;
  #sequence = 0;
  #idle: NodeJS.Timeout | undefined;
  readonly #processes = new Map<number, ChildProcess>();

  constructor(options: RestoreOptions) {
    this.#options = options;
  }

  /** Netlink sockets are named after the process that opened them. */
  isOurs(portId: number): boolean {
    return this.#processes.has(portId);
  }

  /** One table, from `*name` to `COMMIT`: in the kernel when it resolves. Calls must not overlap. */
  async commit(lines: readonly string[]): Promise<void> {
    if (this.#waiting) throw new RangeError('another commit is in progress');
    clearTimeout(this.#idle);
    const running = this.#running ?? this.#start();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const sequence = ++this.#sequence;
    const firstLine = running.lineCount;
    running.lineCount += lines.length + 1;
    running.commitCount += 1;
    const settle = (error?: IptablesError): void => {
      this.#waiting = undefined;
      if (error) reject(withinBlock(error, firstLine, lines.length));
      else resolve();
    };
    this.#waiting = { sequence, settle };
    const late = setTimeout(() => this.#giveUp(running), this.#options.commitDeadlineMs);
    const lockMs = this.#options.lockSeconds * 1000;
    const locked = setInterval(() => this.#giveUpLock(running), lockMs);
    running.child.stdin.write(`${lines.join('\n')}\n# ack ${sequence} ${PADDING}\n`);
    try {
      await promise;
    } finally {
      clearTimeout(late);
      clearInterval(locked);
      if (running.commitCount >= MOST_COMMITS) this.#end();
      this.#idle = setTimeout(() => this.#end(), this.#options.idleMs).unref();
    }
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#idle);
    this.#end();
  }

  #start(): Running {
    const { program, family } = this.#options;
    // With a timeout argument it sets an alarm that it never cancels, which kills it while it waits
    // for input: so the timeout is ours.
    const args = [toolName(family, 'restore'), '--noflush', '-w', '-v'];
    const child = spawn(program, args, { stdio: 'pipe' });
    const running: Running = { child, lineCount: 0, commitCount: 0, complaint: '', output: '' };
    this.#remember(child);
    child.stdout.setEncoding('latin1').on('data', (text: string) => this.#onOutput(running, text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      running.complaint = (running.complaint + text).slice(-MOST_COMPLAINT);
    });
    // It may end before it has read everything; its exit code says why.
    child.stdin.on('error', (error) => {
      running.complaint = `${running.complaint}${error.message}\n`.slice(-MOST_COMPLAINT);
    });
    child.on('error', (cause) => {
      const message = `cannot start ${program}`;
      this.#onEnd(running, new IptablesError('IPTABLES_MISSING', message, { cause }));
    });
    child.on('close', (exitCode) => this.#onEnd(running, endOf(exitCode, running.complaint)));
    letGo(child);
    this.#running = running;
    return running;
  }

  #remember(child: ChildProcess): void {
    const { pid } = child;
    if (pid === undefined) return;
    this.#processes.set(pid, child);
    const forget = (): void => {
      // The PID may belong to a later process by then.
      if (this.#processes.get(pid) === child) this.#processes.delete(pid);
    };
    child.once('close', () => setTimeout(forget, LAST_EVENTS_MS).unref());
  }

  #onOutput(running: Running, text: string): void {
    running.output += text;
    for (const [, sequence] of running.output.matchAll(ACK)) {
      if (Number(sequence) === this.#waiting?.sequence) this.#waiting.settle();
    }
    // The begin of an acknowledgement may be there already.
    const last = running.output.lastIndexOf('#');
    running.output = last === -1 ? '' : running.output.slice(last, last + PADDING.length);
  }

  #onEnd(running: Running, error: IptablesError): void {
    if (this.#running !== running) return;
    this.#running = undefined;
    this.#waiting?.settle(error);
  }

  #giveUp(running: Running): void {
    running.child.kill('SIGKILL');
    const seconds = this.#options.commitDeadlineMs / 1000;
    const message = `iptables-restore did not respond within ${seconds} s`;
    this.#onEnd(running, new IptablesError('IPTABLES_UNCERTAIN', message));
  }

  /** A process that waits for the lock has written nothing. */
  #giveUpLock(running: Running): void {
    const { pid } = running.child;
    if (pid === undefined || !waitsForLock(pid)) return;
    running.child.kill('SIGKILL');
    const message = `another process held the xtables lock for ${this.#options.lockSeconds} s`;
    this.#onEnd(running, new IptablesError('IPTABLES_LOCKED', message));
  }

  #end(): void {
    const running = this.#running;
    this.#running = undefined;
    running?.child.stdin.end();
  }
}

/** It must not keep us alive: it ends when its input does. While it has work, a deadline keeps us. */
function letGo(child: ChildProcessWithoutNullStreams): void {
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    (stream as unknown as Socket).unref();
  }
}

/** Both backends name the line, in different formats. */
const LINE = /\bline:? (\d+)/;

function endOf(exitCode: number | null, complaint: string): IptablesError {
  const said = complaint.trim().split('\n').join('; ');
  if (exitCode === null || exitCode === 0) {
    const message = `iptables-restore exited (${exitCode ?? 'killed by a signal'}): ${said}`;
    return new IptablesError('IPTABLES_UNCERTAIN', message);
  }
  const line = LINE.exec(complaint)?.[1];
  return new IptablesError('IPTABLES_REFUSED', said, {
    ...(line === undefined ? {} : { line: Number(line) - 1 }),
  });
}

/** It counts the lines of its whole life. */
function withinBlock(error: IptablesError, firstLine: number, lineCount: number): IptablesError {
  const line = error.line === undefined ? -1 : error.line - firstLine;
  const { code, message, cause } = error;
  const isInside = line >= 0 && line < lineCount;
  return new IptablesError(code, message, { cause, ...(isInside ? { line } : {}) });
}

const PATH = '/proc/locks';

/** Whether a process stands in line for a file lock that another one has. */
function waitsForLock(processId: number): boolean {
  return isWaiter(readFileSync(PATH, 'utf8'), processId);
}

/** Waiters are listed with an arrow: `1: -> FLOCK  ADVISORY  WRITE 4711 fe:00:123 0 EOF`. */
export function isWaiter(locks: string, processId: number): boolean {
  return locks.split('\n').some((line) => {
    const [, arrow, kind, , , owner] = line.trim().split(/\s+/);
    return arrow === '->' && kind === 'FLOCK' && owner === String(processId);
  });
}
