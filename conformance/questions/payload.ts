const LINE = 'the quick brown fox jumps over the lazy dog 0123456789 ';

/** Text of this many bytes in which a piece that is missing, doubled or moved shows. */
export function payloadOf(bytes: number): string {
  let text = '';
  for (let line = 0; text.length < bytes; line++) text += `${line} ${LINE}`;
  return text.slice(0, bytes);
}
