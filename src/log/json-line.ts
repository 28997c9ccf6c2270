import type { LogLevel, LogRecord } from './logger.ts';

/** The numbers that programs which read JSON logs expect. */
const NUMBERS: Readonly<Record<LogLevel, number>> = {
  debug: 20,
  info: 30,
  warn: 40,
  error: 50,
  fatal: 60,
};

/** One object in a line: level, time in milliseconds, the fields, and the message as `msg`. */
export function jsonLine({ level, fields, message }: LogRecord, timeMs: number): string {
  const about = { level: NUMBERS[level], time: timeMs };
  try {
    return jsonOf({ ...about, ...fields, msg: message });
  } catch (error) {
    return jsonOf({ ...about, fields: unshowable(error), msg: message });
  }
}

/** A log must not fail for what is logged. */
export function unshowable(error: unknown): string {
  return `cannot be shown: ${String(error)}`;
}

/** Errors are their stacks, and large numbers text. Throws for what refers to itself. */
export function jsonOf(value: unknown): string {
  const replaced = (_: string, each: unknown): unknown => {
    if (each instanceof Error) return each.stack ?? each.message;
    return typeof each === 'bigint' ? String(each) : each;
  };
  return JSON.stringify(value, replaced) ?? 'undefined';
}
