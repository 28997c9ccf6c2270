import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startDaemon } from '../host/processes.ts';
import { until } from '../host/until.ts';
import type { Lab } from '../lab.ts';

export interface Capture {
  readonly lab: Lab;
  readonly host: string;
  /** Arguments of tcpdump, with `-c`: it ends by itself. */
  readonly typed: string;
  meanwhile(): Promise<void>;
}

const DEADLINE_MS = 20_000;

/** Runs tcpdump beside something else: from before it begins until so many packets were seen. */
export async function capture({ lab, host, typed, meanwhile }: Capture): Promise<string> {
  const logFile = join(lab.folder, 'logs', `tcpdump-${randomUUID()}.log`);
  const tcpdump = startDaemon({
    name: 'tcpdump',
    namespacePath: lab.namespacePath(host),
    argv: ['tcpdump', '-l', ...typed.split(' ')],
    logFile,
  });
  const read = (): Promise<string> => readFile(logFile, 'utf8');
  const wait = { deadlineMs: DEADLINE_MS };
  try {
    await until(async () => (await read()).includes('listening on'), {
      ...wait,
      what: `tcpdump ${typed} to listen`,
    });
    await meanwhile();
    await until(() => tcpdump.ended() !== undefined, {
      ...wait,
      what: `the packets of tcpdump ${typed}`,
    });
  } finally {
    await tcpdump.stop();
  }
  return (await read()).split('\n').filter(isPacket).join('\n');
}

/** Its other lines tell of itself. */
function isPacket(line: string): boolean {
  return /^(\d\d:|\s|IP)/.test(line);
}
