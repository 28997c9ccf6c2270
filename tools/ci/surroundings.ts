import { runCommand } from '../commands/run.ts';
import type { Part } from './part.ts';

const QUESTION_TIMEOUT_MS = 60_000;
const REMOVAL_TIMEOUT_MS = 120_000;

interface Place {
  readonly root: string;
  readonly signal: AbortSignal;
}

/** The commit that is tested; undefined in a copy without a repository. */
export async function currentCommit(place: Place): Promise<string | undefined> {
  return await output(['git', 'rev-parse', 'HEAD'], place);
}

/** Which of these parts find that Go has to build something first: one of them builds for all. */
export async function coldParts(parts: readonly Part[], place: Place): Promise<string[]> {
  const builder = parts.find(({ name }) => name.startsWith('lab-parts'));
  if (builder?.command === undefined) return [];
  return (await output([...builder.command, '--missing'], place)) === '' ? [] : [builder.name];
}

/** Labs of a failed run would take memory from the next one. Only for machines without other labs. */
export async function removeLabs(root: string): Promise<void> {
  const { ok, output: text } = await runCommand({
    program: 'npm',
    args: ['run', '-s', 'lab', '--', 'down', '--all'],
    folder: root,
    timeoutMs: REMOVAL_TIMEOUT_MS,
    signal: new AbortController().signal,
  });
  if (!ok) console.error(`cannot remove the labs of this machine:\n${text}`);
}

/** The trimmed output of a command; undefined when it fails. */
async function output(
  [program, ...args]: readonly [string, ...string[]],
  { root: folder, signal }: Place,
): Promise<string | undefined> {
  const command = { program, args, folder, timeoutMs: QUESTION_TIMEOUT_MS, signal };
  const { ok, output: text } = await runCommand(command);
  return ok ? text.trim() : undefined;
}
