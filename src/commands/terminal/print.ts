import { colours } from './colour.ts';
import { visible, visibleJson, visiblePage } from './visible.ts';

/** The only way to standard output and error for commands: a check holds all others off `console`. */

/** A page; escapes from other parties are made visible, except for our own colours. */
export function printPage(text: string): void {
  console.log(visiblePage(text));
}

/** JSON: exact for programs, and harmless on a terminal. */
export function printJson(value: unknown): void {
  console.log(visibleJson(JSON.stringify(value, null, 2)));
}

/** One value in one line, for a stream of them. */
export function printJsonLine(value: unknown): void {
  console.log(visibleJson(JSON.stringify(value)));
}

/** Exact output for programs: YAML, or input for nft and iptables-restore. */
export function printData(text: string): void {
  console.log(text);
}

/** A note on standard error. */
export function printNote(text: string): void {
  console.error(visiblePage(text));
}

/** A warning, always one line. */
export function printWarning(message: string): void {
  const { yellow } = colours(process.stderr, process.env);
  console.error(`${yellow('warning:')} ${visible(message)}`);
}

/** The error on the first line, what to do below. */
export function printError(message: string, more: string): void {
  const { red } = colours(process.stderr, process.env);
  const first = visiblePage(message).split('\n').map(red).join('\n');
  console.error(more === '' ? first : `${first}\n\n${visiblePage(more)}`);
}
