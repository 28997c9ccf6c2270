import type { Clock } from '../../time/clock.ts';
import { datesBy } from '../dates.ts';
import { type Reply, textReply } from './reply.ts';

/** The contents of /statusz. */
export interface ComponentPage {
  readonly version: string;
  readonly clock: Pick<Clock, 'monotonicMs' | 'wallMs'>;
  /** On the monotonic clock. */
  readonly startedAtMs: number;
}

const WARNING =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility ' +
  'guarantees and is for debugging purposes only.';
const SECONDS_OF_MINUTE = 60;
const SECONDS_OF_HOUR = 3600;

/** The flags and their values, in the format of Kubernetes components. */
export function flagzReply(flags: Readonly<Record<string, string>>): Reply {
  const names = Object.keys(flags).sort();
  return page('flagz', [WARNING, ...names.map((name) => `${name}: ${flags[name]}`)]);
}

export function statuszReply(about: ComponentPage, paths: readonly string[]): Reply {
  const { clock, startedAtMs } = about;
  const upSeconds = Math.floor((clock.monotonicMs() - startedAtMs) / 1000);
  return page('statusz', [
    WARNING,
    '',
    `Started  ${new Date(datesBy(clock)(startedAtMs)).toUTCString()}`,
    `Up  ${spanText(upSeconds)}`,
    `Node version  ${process.version}`,
    `Binary version  ${about.version}`,
    `Paths  ${paths.join(' ')}`,
  ]);
}

function page(name: string, lines: readonly string[]): Reply {
  return textReply(['', `fairlead ${name}`, ...lines, ''].join('\n'));
}

function spanText(seconds: number): string {
  const hours = Math.floor(seconds / SECONDS_OF_HOUR);
  const minutes = Math.floor((seconds % SECONDS_OF_HOUR) / SECONDS_OF_MINUTE);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${hours} hr ${two(minutes)} min ${two(seconds % SECONDS_OF_MINUTE)} sec`;
}
