export type Value =
  | string
  | number
  | boolean
  | readonly Value[]
  | { readonly [name: string]: Value };

/** Colons and hashes begin something else only beside a space. */
const PLAIN = /^[A-Za-z/](?:[A-Za-z0-9_./ ()[\]<>|,;%{}$-]|[:#](?! ))*$/;
const HASH_AFTER_SPACE = / #/;
const WORDS = new Set(['true', 'false', 'null', 'yes', 'no', 'on', 'off', 'y', 'n']);

/** YAML as a person would write it. tools/ has no packages; a test reads the output with one. */
export function yamlOf(value: Value, depth = 0): string {
  const indent = '  '.repeat(depth);
  if (Array.isArray(value)) {
    return value.map((each) => `${indent}- ${yamlOf(each, depth + 1).trimStart()}`).join('');
  }
  if (typeof value === 'object') {
    return Object.entries(value)
      .map(([name, each]) => `${indent}${scalar(name)}:${after(each, depth)}`)
      .join('');
  }
  return `${scalar(value)}\n`;
}

function after(value: Value, depth: number): string {
  if (typeof value === 'object') return `\n${yamlOf(value, depth + 1)}`;
  if (typeof value === 'string' && /[\n"]/.test(value)) {
    const indent = '  '.repeat(depth + 1);
    return ` |-\n${value.replaceAll(/^/gm, indent)}\n`;
  }
  return ` ${scalar(value)}\n`;
}

/** A JSON string is a YAML string. */
function scalar(value: string | number | boolean): string {
  if (typeof value !== 'string') return String(value);
  const isPlain =
    PLAIN.test(value) &&
    !HASH_AFTER_SPACE.test(value) &&
    !value.endsWith(' ') &&
    !WORDS.has(value.toLowerCase());
  return isPlain ? value : JSON.stringify(value);
}
