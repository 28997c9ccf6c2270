/**
 * A listing of `nft` in the form in which two are compared: elements sorted, one a line, without
 * what was counted. Blocks are sorted as well when `order` is of no meaning, as it is for a table
 * that grew: chains are listed in the order in which they came.
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

/** Lines that only one of two listings has, whatever the order; a whole listing nobody can read. */
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
