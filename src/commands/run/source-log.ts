import type { Logger } from 'pino';
import type { ApiSourceOptions } from '../../cluster/api-source.ts';
import { gapText, type ServerReport } from '../../cluster/server-report.ts';

/** Logs what goes wrong with the API server; what it lacks is one line, whatever the number of kinds. */
export function sourceLog(
  log: Logger,
): Required<Pick<ApiSourceOptions, 'onProblem' | 'onMissing' | 'onServer'>> {
  let hadGaps = false;
  return {
    onProblem: ({ message }) => log.warn(message),
    onMissing: ({ message }) => log.debug(message),
    onServer: (report) => {
      const { fields, level, message } = lineFor(report, hadGaps);
      hadGaps = report.gaps.length > 0;
      log[level](fields, message);
    },
  };
}

interface Line {
  readonly level: 'warn' | 'info' | 'debug';
  readonly fields: object;
  readonly message: string;
}

function lineFor({ version, emulatedBy, gaps }: ServerReport, hadGaps: boolean): Line {
  const server = { version, ...(emulatedBy === undefined ? {} : { emulatedBy }) };
  if (gaps.length > 0) {
    const missing = gaps.map(gapText).join('; ');
    return { level: 'warn', fields: { ...server, missing }, message: 'API server lacks features' };
  }
  const level = hadGaps ? 'info' : 'debug';
  return { level, fields: server, message: 'API server has every feature' };
}
