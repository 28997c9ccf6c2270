import { CommandError } from '../../commands/command-error.ts';
import { printPage } from '../../commands/terminal/print.ts';
import type { NodeAnswer } from './ask-nodes.ts';

/** What one node explains, in its own words. */
export interface Page {
  readonly text: string;
  readonly exitCode: number;
}

export function readPage({
  stdout,
  exitCode,
}: {
  readonly stdout: string;
  readonly exitCode: number;
}): Page {
  // A command that fails prints nothing here.
  if (stdout.trim() === '') throw new RangeError('it printed no explanation');
  return { text: stdout.trimEnd(), exitCode };
}

/** `more`: lines below it. */
export function printPageOf(
  [answer]: readonly NodeAnswer<Page>[],
  more: readonly string[] = [],
): void {
  if (answer?.answers) {
    printPage([answer.said.text, '', `asked on ${answer.node}`, ...more].join('\n'));
    process.exitCode = answer.said.exitCode;
    return;
  }
  throw new CommandError(`${answer?.node ?? 'the node'} does not answer: ${answer?.why ?? ''}`, {
    code: 'NODE_SILENT',
    next: '`kubectl fairlead status` shows all nodes',
  });
}
