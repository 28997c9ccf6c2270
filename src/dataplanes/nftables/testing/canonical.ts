/**
 * A listing of `nft` in a form for comparison: elements sorted, one per line, without counters.
 * Blocks are sorted as well when `order` has no meaning, as for a table that was changed: chains
 * are listed in the order in which they were added.
 */
export function canonicalListing(listing: string, order: 'kept' | 'any' = 'kept'): string {
  const plain = listing.replaceAll(/ counter packets \d+ bytes \d+/g, ' counter');
  const [head = '', ...blocks] = plain
    .replace(/}\n$/, '')
    .split(/\n?(?=^\t(?:set|map|chain) )/m)
    .map((block) => canonicalBlock(block.trimEnd()));
  return [head, ...(order === 'any' ? blocks.sort() : blocks)].join('\n');
}

function canonicalBlock(block: string): string {
  return block.replace(/elements = \{ ([\s\S]*) \}/, (_, list: string) => {
    const elements = list.split(/,\s+/).sort();
    return `elements = {\n${elements.map((element) => `\t\t\t${element}\n`).join('')}\t\t}`;
  });
}

/** Lines that only one of two listings has, in any order; a whole listing is too long to read. */
export function listingDifferences(actual: string, wanted: string): string[] {
  const [is, should] = [actual, wanted].map((text) => canonicalListing(text, 'any'));
  if (is === should) return [];
  const lines = (text = '') => new Set(text.split('\n'));
  const only = [
    ...[...lines(is).difference(lines(should))].map((line) => `listed: ${line.trim()}`),
    ...[...lines(should).difference(lines(is))].map((line) => `wanted: ${line.trim()}`),
  ];
  return only.length === 0 ? ['the same lines in another order'] : only;
}
