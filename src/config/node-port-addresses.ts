import { parseCidr, parseCidrs } from '../addresses/cidr.ts';

/** The addresses that the Node object names first, one of each family. */
const PRIMARY = 'primary';

/** Keywords whose ranges are the same on every node. */
const RANGES_OF: Readonly<Record<string, readonly string[]>> = {
  localhost: ['127.0.0.0/8', '::1/128'],
  all: ['0.0.0.0/0', '::/0'],
};

const KEYWORDS: readonly string[] = [PRIMARY, ...Object.keys(RANGES_OF)];

/**
 * The problem with the list, by the rules of kube-proxy: keywords may stand beside ranges, once
 * each.
 */
export function nodePortAddressFaults(written: readonly string[]): readonly string[] {
  return written.flatMap((text, index) => {
    if (KEYWORDS.includes(text)) {
      return written.indexOf(text) < index ? [`contains ${JSON.stringify(text)} twice`] : [];
    }
    if (parseCidr(text) !== undefined) return [];
    const keywords = KEYWORDS.map((keyword) => JSON.stringify(keyword)).join(', ');
    return [
      `must contain CIDRs such as 10.0.0.0/8, or ${keywords}, and contains ${JSON.stringify(text)}`,
    ];
  });
}

/** Ranges, and `primary` where it was written: it is resolved from the Node object. */
export function expandNodePortAddresses(written: readonly string[]): readonly string[] {
  return written.flatMap((text) => RANGES_OF[text] ?? [text]);
}

/** Every address of both families. */
export function isEveryAddress(expanded: readonly string[]): boolean {
  const families = parseCidrs(expanded)
    .filter(({ prefixLength }) => prefixLength === 0)
    .map(({ base }) => base.version);
  return families.includes(4) && families.includes(6);
}
