/** As Kubernetes and syslog have them, the least important first. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'fatal'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type LogFields = Readonly<Record<string, unknown>>;

/** What is logged; when is known to who writes it. */
export interface LogRecord {
  readonly level: LogLevel;
  readonly fields: LogFields;
  readonly message: string;
}

/** A message, with fields before it if it has any. */
interface Log {
  (message: string): void;
  (fields: LogFields, message: string): void;
}

export type Logger = Readonly<Record<LogLevel, Log>>;

/** Records below `least` are discarded. */
export function createLogger(least: LogLevel, write: (record: LogRecord) => void): Logger {
  const first = LOG_LEVELS.indexOf(least);
  const logAt = (level: LogLevel): Log => {
    if (LOG_LEVELS.indexOf(level) < first) return () => undefined;
    return (...args: [string] | [LogFields, string]) => {
      if (args.length === 1) write({ level, fields: {}, message: args[0] });
      else write({ level, fields: args[0], message: args[1] });
    };
  };
  return {
    debug: logAt('debug'),
    info: logAt('info'),
    warn: logAt('warn'),
    error: logAt('error'),
    fatal: logAt('fatal'),
  };
}
