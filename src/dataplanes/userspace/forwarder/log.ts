import { openUnblocked } from '../../../linux/unblocked-output.ts';

const STDERR = 2;
const LEVELS = { info: 30, warn: 40, error: 50 } as const;

/** Lines as the agent writes them with `--logging-format=json`. One that standard error does not take is lost. */
export interface ForwarderLog {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

export function openForwarderLog(output = openUnblocked(STDERR)): ForwarderLog {
  const at =
    (level: keyof typeof LEVELS) =>
    (msg: string, fields: Readonly<Record<string, unknown>> = {}): void => {
      const line = { level: LEVELS[level], time: Date.now(), pid: process.pid, ...fields, msg };
      output.write(Buffer.from(`${JSON.stringify(line)}\n`));
    };
  return { info: at('info'), warn: at('warn'), error: at('error') };
}
