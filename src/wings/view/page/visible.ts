/** Control characters, and those that change the direction of text or are not seen. */
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Text from elsewhere with such characters written out, so that what is seen is what is there. */
export function visible(text: string): string {
  return text.replace(HIDDEN, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
