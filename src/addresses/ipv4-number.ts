const DOT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;

/**
 * The 32 bits of a formatted IPv4 address, without allocating an object: called hundreds of
 * thousands of times at a start. Undefined: not IPv4. It does not validate; `parseIp` does.
 */
export function ipv4Number(text: string): number | undefined {
  let bytes = 0;
  let byte = 0;
  let dots = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code >= ZERO && code <= NINE) byte = byte * 10 + code - ZERO;
    else if (code === DOT) {
      bytes = (bytes << 8) | byte;
      byte = 0;
      dots += 1;
    } else return undefined;
  }
  return dots === 3 ? (bytes << 8) | byte : undefined;
}
