import { fileURLToPath } from 'node:url';
import { tryRun } from '../../../lab/host/run.ts';

const PROGRAM = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const DEADLINE_MS = 120_000;
const MARK = 'exit code';

/** What a command prints on a terminal of this width. */
export interface Terminal {
  readonly columns: number;
  readonly hasColours: boolean;
}

export interface Printed {
  readonly code: number;
  readonly lines: readonly string[];
}

/** Runs `fairlead` on a terminal of its own. */
export async function onTerminal(args: readonly string[], of: Terminal): Promise<Printed> {
  const command = [process.execPath, PROGRAM, ...args].map(quoted).join(' ');
  const colours = of.hasColours ? 'unset NO_COLOR' : 'export NO_COLOR=1';
  const script = `stty cols ${of.columns}; ${colours}; ${command} 2>/dev/null; echo "${MARK} $?"`;
  const argv = ['script', '--quiet', '--return', '--command', script, '/dev/null'] as const;
  const { stdout } = await tryRun(argv, { deadlineMs: DEADLINE_MS });
  const lines = stdout.trimEnd().split('\r\n');
  const code = Number(lines.pop()?.slice(MARK.length));
  return { code, lines };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
