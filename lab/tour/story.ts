/** One thing that a chapter tells, in the order in which it happened. */
export type Entry =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'command'; readonly command: Command }
  /** The first row is the heading. */
  | { readonly kind: 'table'; readonly rows: readonly (readonly string[])[] }
  /** What was compared with what the chapter claims, and held. */
  | { readonly kind: 'fact'; readonly text: string };

/** A command that was run, as a person would type it. */
export interface Command {
  /** A host of the lab; undefined: whoever starts the lab. */
  readonly host: string | undefined;
  readonly typed: string;
  readonly output: string;
}

/** The prompt says where: `machine# curl …` is typed on that host as root. */
export function promptOf({ host }: Pick<Command, 'host'>): string {
  return host === undefined ? '$' : `${host}#`;
}

/** One paragraph on one line: chapters are written in lines that fit an editor. */
export function joinLines(text: string): string {
  return text
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim().replace(/\s*\n\s*/g, ' '))
    .join('\n\n');
}
