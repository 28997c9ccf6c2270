import type { ErrorText } from './read.ts';

const WIDTH = 80;
const INDENT = 4;

/** One error: its code, the text, and what to do, within 80 columns. */
export function formatErrorText({ code, text, next }: ErrorText): string {
  const steps = next.map((each) => wrapped(`next: ${each}`));
  return [code, wrapped(text), ...steps].join('\n');
}

function wrapped(text: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    if (line !== '' && INDENT + line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  lines.push(line);
  return lines.map((each) => ' '.repeat(INDENT) + each).join('\n');
}
