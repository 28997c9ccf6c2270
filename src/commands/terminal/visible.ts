/**
 * Text of others (an API server, a manifest, a kubeconfig, a process name) for a terminal. Control
 * characters act on it, format characters hide or reorder what is shown: both are written as
 * escapes that can be seen. \p{C}: control, format (bidi and zero-width ones), half characters,
 * private and unassigned ones; \p{Zl} and \p{Zp}: separators of lines and paragraphs.
 */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** The colours that our own views write: bold, dim, red, green, yellow, and the ends of them. */
const STYLE = `${'\x1b'}\\[(?:1|2|22|31|32|33|39)m`;
const UNSEEN_OR_STYLE = new RegExp(`${STYLE}|${UNSEEN.source}`, UNSEEN.flags);

const SHORT: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/** One line, without characters that act on a terminal. */
export function visible(text: string): string {
  return text.replace(UNSEEN, escaped);
}

/** The same for text that a view has put its colours into. */
export function visibleButStyles(text: string): string {
  return text.replace(UNSEEN_OR_STYLE, (found) => (isStyle(found) ? found : escaped(found)));
}

/** The same for a page: lines and tabs are its own. */
export function visiblePage(text: string): string {
  return text.replace(UNSEEN_OR_STYLE, (found) => {
    return found === '\n' || found === '\t' || isStyle(found) ? found : escaped(found);
  });
}

/**
 * JSON with the same value: of the characters that act on a terminal, `stringify` escapes only C0.
 */
export function visibleJson(json: string): string {
  return json.replace(UNSEEN, (found) => (found === '\n' ? found : jsonEscaped(found)));
}

function jsonEscaped(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

function isStyle(found: string): boolean {
  return found.endsWith('m');
}

function escaped(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  if (code <= 0xff) return SHORT.get(character) ?? `\\x${hex.padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`;
}
