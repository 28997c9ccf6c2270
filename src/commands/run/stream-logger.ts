import { openUnblocked, type UnblockedOutput } from '../../linux/unblocked-output.ts';
import { jsonLine, jsonOf, unshowable } from '../../log/json-line.ts';
import {
  createLogger,
  type LogFields,
  type Logger,
  type LogLevel,
  type LogRecord,
} from '../../log/logger.ts';
import { visible } from '../terminal/visible.ts';
import { LineWriter } from './line-writer.ts';

export interface LogSettings {
  readonly format: 'text' | 'json';
  /** As in kube-proxy: from 4 on, every step is logged. */
  readonly verbosity: number;
}

const STDERR = 2;
const DEBUG_FROM_VERBOSITY = 4;

/** The log, and the writer that drops and counts lines that cannot be written. */
export interface Log {
  readonly log: Logger;
  readonly lines: LineWriter;
}

/** Writes to standard error synchronously, so that the last line before an exit is not lost. */
export function openLog(
  { format, verbosity }: LogSettings,
  output: UnblockedOutput = openUnblocked(STDERR),
): Log {
  const lineOf = format === 'json' ? jsonLine : textLine;
  const line = (record: LogRecord): string =>
    lineOf({ ...record, fields: rounded(record.fields) }, Date.now());
  const noticeOf = (count: number): string =>
    line({ level: 'warn', fields: { count }, message: 'log lines were dropped' });
  const lines = new LineWriter({ output, noticeOf });
  const level = verbosity >= DEBUG_FROM_VERBOSITY ? 'debug' : 'info';
  return { log: createLogger(level, (record) => lines.write(line(record))), lines };
}

/** Durations are measured to the nanosecond; milliseconds with three digits are enough. */
export function rounded(fields: LogFields): LogFields {
  const entries = Object.entries(fields);
  return Object.fromEntries(
    entries.map(([name, value]) => [
      name,
      typeof value === 'number' ? roundedNumber(value) : value,
    ]),
  );
}

const SHOWN_DIGITS = 3;

function roundedNumber(value: number): number {
  if (!Number.isFinite(value) || Number.isInteger(value)) return value;
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(SHOWN_DIGITS));
}

const LETTERS: Readonly<Record<LogLevel, string>> = {
  debug: 'D',
  info: 'I',
  warn: 'W',
  error: 'E',
  fatal: 'F',
};

/** Lines like those of Kubernetes' components: `I1115 09:49:01.123 message key=value`. */
export function textLine({ level, fields, message }: LogRecord, timeMs: number): string {
  const at = new Date(timeMs).toISOString();
  const stamp = `${LETTERS[level]}${at.slice(5, 7)}${at.slice(8, 10)} ${at.slice(11, 23)}`;
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  const pairs = given.map(([name, value]) => ` ${name}=${fieldText(value)}`);
  // A line end in a message would forge a log line.
  return visible(`${stamp} ${message}${pairs.join('')}`);
}

function fieldText(value: unknown): string {
  if (typeof value === 'string') return /[\s"=]/.test(value) ? JSON.stringify(value) : value;
  try {
    return jsonOf(value);
  } catch (error) {
    return JSON.stringify(unshowable(error));
  }
}
