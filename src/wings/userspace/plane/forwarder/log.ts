import { openUnblocked } from '../../../../linux/unblocked-output.ts';
import { jsonLine } from '../../../../log/json-line.ts';
import type { LogFields } from '../../../../log/logger.ts';

const STDERR = 2;
/** Lines as the agent writes them with `--logging-format=json`. One that standard error does not take is lost. */
export interface ForwarderLog {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

export function openForwarderLog(output = openUnblocked(STDERR)): ForwarderLog {
  const at =
    (level: 'info' | 'warn' | 'error') =>
    (message: string, given: LogFields = {}): void => {
      const fields = { pid: process.pid, ...given };
      output.write(Buffer.from(`${jsonLine({ level, fields, message }, Date.now())}\n`));
    };
  return { info: at('info'), warn: at('warn'), error: at('error') };
}
