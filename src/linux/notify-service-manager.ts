import { sleep } from '../time/sleep.ts';
import { NotifyError, sendNotification } from './notify-socket.ts';

export interface ServiceManagerOptions {
  /** Usually `process.env`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onProblem: (error: NotifyError) => void;
}

const MICROSECONDS_OF_MS = 1000;

/**
 * Notifies systemd, or another service manager that set NOTIFY_SOCKET. Without it, does nothing.
 */
export class ServiceManager {
  readonly #options: ServiceManagerOptions;

  constructor(options: ServiceManagerOptions) {
    this.#options = options;
  }

  /** Traffic is served: units that wait for this one may start. */
  ready(status: string): void {
    this.#tell(['READY=1', statusLine(status)]);
  }

  stopping(): void {
    this.#tell(['STOPPING=1']);
  }

  /** The watchdog interval; undefined: no watchdog. */
  get watchdogIntervalMs(): number | undefined {
    const { WATCHDOG_USEC: microseconds, WATCHDOG_PID: pid } = this.#options.env;
    if (microseconds === undefined || !/^[1-9]\d{0,14}$/.test(microseconds)) return undefined;
    // It may be meant for our parent.
    if (pid !== undefined && pid !== String(process.pid)) return undefined;
    // At half of it, as sd_watchdog_enabled(3) advises.
    return Math.max(1, Math.floor(Number(microseconds) / MICROSECONDS_OF_MS / 2));
  }

  /** Gives signs of life while there is life, until the signal is aborted. */
  async runWatchdog(isAlive: () => boolean, signal: AbortSignal): Promise<void> {
    const everyMs = this.watchdogIntervalMs;
    if (everyMs === undefined) return;
    while (!signal.aborted) {
      if (isAlive()) this.#tell(['WATCHDOG=1']);
      await sleep(everyMs, signal);
    }
  }

  #tell(lines: readonly string[]): void {
    const { NOTIFY_SOCKET: socketPath } = this.#options.env;
    if (socketPath === undefined || socketPath === '') return;
    try {
      sendNotification(socketPath, lines);
    } catch (error) {
      if (!(error instanceof NotifyError)) throw error;
      this.#options.onProblem(error);
    }
  }
}

/** A line end would begin another assignment. */
function statusLine(status: string): string {
  return `STATUS=${status.replaceAll('\n', ' ')}`;
}
