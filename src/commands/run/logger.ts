import { type DestinationStream, destination, type Logger, pino } from 'pino';
import { visible } from '../terminal/visible.ts';

export interface LogSettings {
  readonly format: 'text' | 'json';
  /** As in kube-proxy: from 4 on, every step is told. */
  readonly verbosity: number;
}

const STDERR = 2;
const DEBUG_FROM_VERBOSITY = 4;

/** Writes to standard error, at once: the last line before an end must not be lost. */
export function openLog({ format, verbosity }: LogSettings): Logger {
  const stderr = destination({ fd: STDERR, sync: true });
  const level = verbosity >= DEBUG_FROM_VERBOSITY ? 'debug' : 'info';
  const options = { level, base: null, timestamp: () => `,"time":${Date.now()}` };
  return pino(options, format === 'json' ? stderr : asText(stderr));
}

const LETTERS: Readonly<Record<number, string>> = { 20: 'D', 30: 'I', 40: 'W', 50: 'E', 60: 'F' };

/** Lines like those of Kubernetes' components: `I1115 09:49:01.123 message key=value`. */
function asText(stderr: DestinationStream): DestinationStream {
  return { write: (line) => stderr.write(`${textLine(line)}\n`) };
}

export function textLine(json: string): string {
  const { level, time, msg, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const letter = LETTERS[Number(level)] ?? '?';
  const at = new Date(Number(time)).toISOString();
  const stamp = `${letter}${at.slice(5, 7)}${at.slice(8, 10)} ${at.slice(11, 23)}`;
  const pairs = Object.entries(fields).map(([name, value]) => ` ${name}=${fieldText(value)}`);
  // A line end in a message would make a line of the log that nobody wrote.
  return visible(`${stamp} ${String(msg ?? '')}${pairs.join('')}`);
}

function fieldText(value: unknown): string {
  if (typeof value === 'string') return /[\s"=]/.test(value) ? JSON.stringify(value) : value;
  return JSON.stringify(value) ?? 'undefined';
}
