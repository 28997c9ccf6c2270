/** Chains in which the rules of different Services stand in any order. */
const SHARED = /^-A KUBE-(SERVICES|NODEPORTS|EXTERNAL-SERVICES|PROXY-FIREWALL) /;
const LAST = /NOTE: this must be the last rule in this chain/;

/** The lines of a listing, those of different Services sorted, so that two can be compared. */
export function sortedTables(text: string): string[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines
    .map((line, index) => ({ line, index, isShared: SHARED.test(line) && !LAST.test(line) }))
    .sort((a, b) => {
      const isSameChain = chainOf(a.line) === chainOf(b.line) && tableOf(a) === tableOf(b);
      if (isSameChain && a.isShared && b.isShared) return a.line < b.line ? -1 : 1;
      return a.index - b.index;
    })
    .map(({ line }) => line);

  function tableOf({ index }: { index: number }): string {
    return lines.findLast((line, at) => at <= index && line.startsWith('*')) ?? '';
  }
}

function chainOf(line: string): string {
  return line.split(' ', 2).join(' ');
}
