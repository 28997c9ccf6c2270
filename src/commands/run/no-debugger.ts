import type { Logger } from 'pino';

/**
 * Node opens a debugger on 127.0.0.1:9229 when it gets SIGUSR1, and whoever connects, of any user and
 * any pod in the host's network, runs code as root. Other programs take the signal for a wish to open
 * their logs anew, so it is sent by mistake. A listener of ours takes the place of Node's.
 */
export function openNoDebugger(log: Pick<Logger, 'warn'>): void {
  process.on('SIGUSR1', () => {
    log.warn({ signal: 'SIGUSR1' }, 'no debugger is opened by a signal; start Node with --inspect');
  });
}
