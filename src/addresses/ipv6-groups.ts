const GROUPS = 8;
const MOST_DIGITS = 4;
const COLON = 0x3a;

/**
 * The eight groups of an IPv6 address in hexadecimal notation. Undefined: it is none, or one that is
 * written with an IPv4 address or a zone. Without a list or a text for each group: a Service may have
 * hundreds of thousands of endpoints.
 */
export function ipv6Groups(text: string): readonly number[] | undefined {
  const groups = [0, 0, 0, 0, 0, 0, 0, 0];
  const end = text.length;
  let count = 0;
  /** Where the zeros are that `::` stands for. */
  let gap = -1;
  let at = 0;
  if (text.charCodeAt(0) === COLON && text.charCodeAt(1) === COLON) {
    gap = 0;
    at = 2;
  }
  while (at < end) {
    const begin = at;
    let value = 0;
    for (let digit = digitOf(text.charCodeAt(at)); digit >= 0; ) {
      value = value * 16 + digit;
      digit = digitOf(text.charCodeAt(++at));
    }
    if (at === begin || at > begin + MOST_DIGITS || count === GROUPS) return undefined;
    groups[count++] = value;
    if (at === end) break;
    if (text.charCodeAt(at++) !== COLON || at === end) return undefined;
    if (text.charCodeAt(at) !== COLON) continue;
    if (gap >= 0) return undefined;
    gap = count;
    at++;
  }
  if (gap < 0) return count === GROUPS ? groups : undefined;
  if (count === GROUPS) return undefined;
  groups.copyWithin(GROUPS - count + gap, gap, count).fill(0, gap, GROUPS - count + gap);
  return groups;
}

/** `::ffff:0:0/96`: the IPv4 address in its last two groups. */
export function isMappedIpv4(groups: readonly number[]): boolean {
  return groups[5] === 0xffff && groups.every((group, index) => index >= 5 || group === 0);
}

/** -1: no hexadecimal digit; nor is the code behind the end of a text. */
function digitOf(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}
