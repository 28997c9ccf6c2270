import { type Logger, pino } from 'pino';
import { openUnblocked, type UnblockedOutput } from '../../linux/unblocked-output.ts';
import { visible } from '../terminal/visible.ts';
import { LineWriter } from './line-writer.ts';

export interface LogSettings {
  readonly format: 'text' | 'json';
  /** As in kube-proxy: from 4 on, every step is logged. */
  readonly verbosity: number;
}

const STDERR = 2;
const DEBUG_FROM_VERBOSITY = 4;
const WARNING = 40;

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
  const lineOf = format === 'json' ? (json: string) => json.trimEnd() : textLine;
  const noticeOf = (count: number): string =>
    lineOf(
      JSON.stringify({ level: WARNING, time: Date.now(), count, msg: 'log lines were dropped' }),
    );
  const lines = new LineWriter({ output, noticeOf });
  const level = verbosity >= DEBUG_FROM_VERBOSITY ? 'debug' : 'info';
  const timestamp = () => `,"time":${Date.now()}`;
  const options = { level, base: null, timestamp, formatters: { log: rounded } };
  return { log: pino(options, { write: (json) => lines.write(lineOf(json)) }), lines };
}

/** Durations are measured to the nanosecond; milliseconds with three digits are enough. */
export function rounded(fields: Record<string, unknown>): Record<string, unknown> {
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

const LETTERS: Readonly<Record<number, string>> = { 20: 'D', 30: 'I', 40: 'W', 50: 'E', 60: 'F' };

/** Lines like those of Kubernetes' components: `I1115 09:49:01.123 message key=value`. */
export function textLine(json: string): string {
  const { level, time, msg, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const letter = LETTERS[Number(level)] ?? '?';
  const at = new Date(Number(time)).toISOString();
  const stamp = `${letter}${at.slice(5, 7)}${at.slice(8, 10)} ${at.slice(11, 23)}`;
  const pairs = Object.entries(fields).map(([name, value]) => ` ${name}=${fieldText(value)}`);
  // A line end in a message would forge a log line.
  return visible(`${stamp} ${String(msg ?? '')}${pairs.join('')}`);
}

function fieldText(value: unknown): string {
  if (typeof value === 'string') return /[\s"=]/.test(value) ? JSON.stringify(value) : value;
  return JSON.stringify(value) ?? 'undefined';
}
