import { styleText } from 'node:util';
import { formatTable } from '../host/table.ts';
import { type Entry, promptOf } from './story.ts';

const WIDEST = 80;
const MARGIN = '  ';

/** How a chapter looks while it is played. Output of commands is as they wrote it. */
export function terminalEntry(entry: Entry, stream: NodeJS.WriteStream = process.stdout): string {
  const columns = Math.min(stream.columns ?? WIDEST, WIDEST);
  const style = (format: Parameters<typeof styleText>[0], text: string): string =>
    styleText(format, text, { stream });
  switch (entry.kind) {
    case 'text':
      return `\n${wrap(entry.text, columns)}\n`;
    case 'table':
      return `\n${formatTable(entry.rows)}\n`;
    case 'fact':
      return `${MARGIN}${style('green', '✓')} ${entry.text}\n`;
    case 'command': {
      const { command } = entry;
      const line = `${style('dim', promptOf(command))} ${style('bold', command.typed)}`;
      return `\n${[line, ...outputLines(command.output)].map((text) => MARGIN + text).join('\n')}\n`;
    }
  }
}

export function terminalHeading(
  title: string,
  stream: NodeJS.WriteStream = process.stdout,
): string {
  return `\n${styleText('bold', title, { stream })}\n${'─'.repeat(Math.min(title.length, WIDEST))}\n`;
}

function outputLines(output: string): string[] {
  return output === '' ? [] : output.split('\n');
}

/** Breaks at spaces; a word longer than the line stays whole, since it is something to copy. */
export function wrap(text: string, columns: number): string {
  return text
    .split('\n\n')
    .map((paragraph) => wrapParagraph(paragraph, columns).join('\n'))
    .join('\n\n');
}

function wrapParagraph(paragraph: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of paragraph.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
