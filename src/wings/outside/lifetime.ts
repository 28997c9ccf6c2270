import { InvalidArgumentError } from 'commander';
import { parseDurationMs } from '../../config/duration.ts';

/** The API server accepts no shorter life. */
const LEAST_SECONDS = 600;
const DAYS = /^(\d{1,4})d$/;
const HOURS_OF_A_DAY = 24;

/** The life of a token in seconds, from `30d` or a duration such as `720h`. */
export function lifetimeSeconds(text: string): number {
  const days = DAYS.exec(text)?.[1];
  const ms = parseDurationMs(days === undefined ? text : `${Number(days) * HOURS_OF_A_DAY}h`);
  const seconds = Math.floor((ms ?? 0) / 1000);
  if (seconds >= LEAST_SECONDS) return seconds;
  throw new InvalidArgumentError('Use a duration such as 30d or 12h, at least 10m.');
}
