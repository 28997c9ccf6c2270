import { forwarderError } from './forwarder-error.ts';
import type { ForwarderLink } from './forwarder-link.ts';
import { type HeldListener, PROTOCOL_VERSION } from './forwarder-protocol.ts';
import { closeListeners, copyListeners, openListeners } from './listeners.ts';
import { Restarts } from './restarts.ts';
import { currentSockets } from './run-files.ts';
import { ANSWER_MS, isSilent, meet, part, type RunningForwarder } from './running.ts';
import { Silence } from './silence.ts';
import { type ForwarderProgram, startForwarder } from './start.ts';

export interface KeeperOptions {
  readonly runFolder: string;
  /** Rejects where the program is missing. */
  readonly readProgram: () => ForwarderProgram;
  readonly threadCount: number;
  /** After so long without an answer it is killed; undefined: 30 s. */
  readonly hungMs?: number;
  /** Called before listeners are opened: their addresses must be local. */
  readonly prepare: () => Promise<void>;
  readonly onWarning?: ((message: string) => void) | undefined;
}

/** What a forwarder must have. */
export interface Wanted {
  readonly returnMark: number;
  /** Gives it its rows. */
  readonly fill: (link: ForwarderLink) => Promise<void>;
}

/** 20,000 connections take a second. */
const TAKE_OVER_MS = 30_000;
/** What a forwarder that was replaced may still take for connections that could not move. */
const REPLACED_DRAIN_MS = 600_000;

/**
 * Finds the running forwarder, or starts one: another build is replaced without cutting a
 * connection. Holds copies of the listeners, so that connections wait while none runs.
 */
export class ForwarderKeeper {
  readonly restarts = new Restarts();
  /** Once it is over, the next inspection kills the forwarder. */
  readonly silence: Silence;
  readonly #options: KeeperOptions;
  #running: RunningForwarder | undefined;
  #listeners: readonly HeldListener[] = [];
  #whyNone: () => Error = () =>
    forwarderError('FORWARDER_ENDED', 'the forwarder is not started yet');
  startCount = 0;
  handedOver = 0;

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.silence = new Silence(currentSockets(options.runFolder).handover, options.hungMs);
  }

  /** Undefined: none, or its end was noticed. */
  get current(): RunningForwarder | undefined {
    return this.#running;
  }

  /** It ended without being asked to. */
  noteEnd(running: RunningForwarder): void {
    if (this.#running !== running) return;
    this.#forget(running);
    this.#whyNone = () => forwarderError('FORWARDER_ENDED', endText(running));
    this.restarts.ended(performance.now());
  }

  /** Why none runs. The signal that ended one is known a little later than its end. */
  get whyNone(): string {
    return this.#whyNone().message;
  }

  /** Resolves with a forwarder that has the rows. Rejects with a `PlaneError`. */
  async ensure(wanted: Wanted): Promise<RunningForwarder> {
    const found = await this.find();
    if (found !== undefined && (await this.#isWanted(found, wanted))) {
      await wanted.fill(found.work);
      this.silence.end();
      return found;
    }
    if (performance.now() < this.restarts.retryAtMs) throw this.#whyNone();
    try {
      return await this.#start(found, wanted);
    } catch (error) {
      const failure = error instanceof Error ? error : new Error(String(error));
      this.#whyNone = () => failure;
      this.restarts.notStarted(performance.now());
      throw error;
    }
  }

  /** The running one. Rejects while one does not answer; in the end it is killed. */
  async find(): Promise<RunningForwarder | undefined> {
    if (this.#running?.work.isOpen) {
      if (!this.silence.isOver) {
        if (this.silence.isNoted) throw silent();
        return this.#running;
      }
      await this.#kill(this.#running);
      return undefined;
    }
    if (this.#running) this.noteEnd(this.#running);
    return await this.#adopt();
  }

  /** The connections to the forwarder keep this process no longer from ending. */
  release(): void {
    this.#running?.work.unref();
    this.#running?.pulse.unref();
    this.#closeListeners();
  }

  /** Lets go of the forwarder, which goes on. */
  letGo(): void {
    if (this.#running) this.#forget(this.#running);
    this.#closeListeners();
  }

  #closeListeners(): void {
    closeListeners(this.#listeners);
    this.#listeners = [];
  }

  async kill(): Promise<void> {
    if (this.#running) await this.#kill(this.#running);
    else await this.silence.kill();
  }

  async #adopt(): Promise<RunningForwarder | undefined> {
    const sockets = currentSockets(this.#options.runFolder);
    try {
      const found = await meet(sockets);
      this.silence.end();
      if (found === undefined) return undefined;
      if (this.#listeners.length === 0) {
        this.#listeners = await copyListeners(sockets.handover, ANSWER_MS);
      }
      this.#running = found;
      return found;
    } catch (error) {
      if (!isSilent(error)) throw error;
      this.silence.note();
      if (!this.silence.isOver) throw error;
      await this.silence.kill();
      return undefined;
    }
  }

  async #isWanted({ hello, pulse }: RunningForwarder, wanted: Wanted): Promise<boolean> {
    if (hello.version !== PROTOCOL_VERSION) return false;
    const { isDraining } = await pulse.ask<'pulse'>({ do: 'pulse' }, ANSWER_MS);
    return !isDraining && hello.build === this.#buildOr(hello.build, wanted);
  }

  /** While its program is missing, as during an upgrade, the running one is kept. */
  #buildOr(running: string, wanted: Wanted): string {
    try {
      return this.#build(this.#options.readProgram(), wanted);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'FORWARDER_MISSING') return running;
      throw error;
    }
  }

  /** Everything that a running one cannot change. */
  #build({ digest }: ForwarderProgram, { returnMark }: Wanted): string {
    return `${digest}, ${this.#options.threadCount} threads, mark ${returnMark}`;
  }

  async #start(old: RunningForwarder | undefined, wanted: Wanted): Promise<RunningForwarder> {
    const { runFolder, readProgram, threadCount, prepare } = this.#options;
    const program = readProgram();
    await prepare();
    if (this.#listeners.length === 0) this.#listeners = openListeners();
    const listeners = this.#listeners;
    const { returnMark } = wanted;
    const build = this.#build(program, wanted);
    const start = { runFolder, build, threadCount, returnMark, listeners };
    const started = await startForwarder(program.path, start);
    try {
      await wanted.fill(started.work);
      this.handedOver += await this.#takeOver(started, old);
    } catch (error) {
      await killed(started);
      throw error;
    }
    if (old) this.#forget(old);
    this.#running = started;
    this.startCount++;
    return started;
  }

  /** Gives how many connections moved. */
  async #takeOver(started: RunningForwarder, old: RunningForwarder | undefined): Promise<number> {
    const take = async (from: string): Promise<number> => {
      const { pairs } = await started.work.ask<'take-over'>(
        { do: 'take-over', from },
        TAKE_OVER_MS,
      );
      return pairs;
    };
    if (old === undefined) return await take('');
    try {
      return await take(currentSockets(this.#options.runFolder).handover);
    } catch (error) {
      this.#options.onWarning?.(
        `forwarder ${old.hello.pid} could not hand over its connections, which it keeps until they ` +
          `end, for ${REPLACED_DRAIN_MS / 60_000} minutes at most: ${String(error)}`,
      );
      // It must not accept any more.
      const drain = { do: 'drain', deadlineMs: REPLACED_DRAIN_MS, final: false } as const;
      await Promise.allSettled([old.work.ask<'drain'>(drain, ANSWER_MS)]);
      return await take('');
    }
  }

  async #kill(running: RunningForwarder): Promise<void> {
    // First, so that the watch does not take it for another end, which would delay the next start.
    if (this.#running === running) this.#running = undefined;
    await killed(running);
    this.silence.end();
    this.#forget(running);
    const text = `the forwarder (pid ${running.hello.pid}) did not answer, and was killed`;
    this.#whyNone = () => forwarderError('FORWARDER_ENDED', text);
    this.restarts.ended(performance.now());
  }

  #forget(running: RunningForwarder): void {
    part(running);
    if (this.#running === running) this.#running = undefined;
  }
}

/** Its connection is open, so the process lives and the number is its own. */
async function killed({ pid, work }: RunningForwarder): Promise<void> {
  if (!work.isOpen || pid === undefined) return;
  process.kill(pid, 'SIGKILL');
  await work.ended;
}

function endText({ hello, exit }: RunningForwarder): string {
  const how = exit?.();
  return `the forwarder (pid ${hello.pid}) ended${how === undefined ? '' : `: ${how}`}`;
}

function silent(): Error {
  return forwarderError('FORWARDER_SILENT', 'the forwarder does not answer');
}
