import type { ApiSourceOptions } from '../../cluster/api-source.ts';
import { gapText, type ServerReport } from '../../cluster/server-report.ts';
import type { LogFields, Logger } from '../../log/logger.ts';
import { type Clock, systemClock } from '../../time/clock.ts';
import { type Digest, needsPerson, problemDigest } from '../problem-digest.ts';

/** Logs problems with the API server; what it lacks is one line for all kinds together. */
export function sourceLog(
  log: Logger,
  clock: Pick<Clock, 'monotonicMs'> = systemClock,
): Required<Pick<ApiSourceOptions, 'onProblem' | 'onMissing' | 'onServer'>> {
  let hadGaps = false;
  return {
    onProblem: problemDigest(clock, (digest) => logDigest(log, digest)),
    onMissing: ({ message }) => log.debug(message),
    onServer: (report) => {
      const { fields, level, message } = lineFor(report, hadGaps);
      hadGaps = report.gaps.length > 0;
      log[level](fields, message);
    },
  };
}

function logDigest(log: Logger, { problem, text, count }: Digest): void {
  const { code, next } = problem;
  const fields = { code, ...(count > 1 ? { count } : {}) };
  if (needsPerson(problem)) log.error(fields, `${text}; ${next}`);
  else log.warn(fields, text);
}

interface Line {
  readonly level: 'warn' | 'info' | 'debug';
  readonly fields: LogFields;
  readonly message: string;
}

function lineFor({ version, emulatedBy, gaps }: ServerReport, hadGaps: boolean): Line {
  const server = { version, ...(emulatedBy === undefined ? {} : { emulatedBy }) };
  if (gaps.length > 0) {
    const missing = gaps.map(gapText).join('; ');
    return { level: 'warn', fields: { ...server, missing }, message: 'API server lacks features' };
  }
  const level = hadGaps ? 'info' : 'debug';
  return { level, fields: server, message: 'API server has every optional feature' };
}
