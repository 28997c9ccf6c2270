import type { Logger } from '../../log/logger.ts';

/**
 * On SIGUSR1 Node opens a debugger on 127.0.0.1:9229, and any local user, or pod in the host network,
 * that connects runs code as root. The signal is sent by mistake, because other programs reopen their
 * logs on it. This listener replaces Node's.
 */
export function openNoDebugger(log: Pick<Logger, 'warn'>): void {
  process.on('SIGUSR1', () => {
    log.warn(
      { signal: 'SIGUSR1' },
      'ignored SIGUSR1: it opens no debugger; start Node with --inspect',
    );
  });
}
