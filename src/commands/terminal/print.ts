import { colours } from './colour.ts';
import { visible, visibleJson, visiblePage } from './visible.ts';

/** The only way to standard output and error for commands: a check holds all others off `console`. */

/** A page for a person; escapes in it are shown instead of followed, but for our own colours. */
export function printPage(text: string): void {
  console.log(visiblePage(text));
}

/** JSON of a value: exactly that value for a program, and harmless where a person reads it. */
export function printJson(value: unknown): void {
  console.log(visibleJson(JSON.stringify(value, null, 2)));
}

/** For a program, exactly: YAML, or input for nft and iptables-restore. */
export function printData(text: string): void {
  console.log(text);
}

/** Beside the output: what a person may want to know. */
export function printNote(text: string): void {
  console.error(visiblePage(text));
}

/** One line, whatever is in the message. */
export function printWarning(message: string): void {
  const { yellow } = colours(process.stderr, process.env);
  console.error(`${yellow('warning:')} ${visible(message)}`);
}

/** What went wrong in the first line, and below what to do. */
export function printError(message: string, more: string): void {
  const { red } = colours(process.stderr, process.env);
  const first = visiblePage(message).split('\n').map(red).join('\n');
  console.error(more === '' ? first : `${first}\n\n${visiblePage(more)}`);
}
