/** One spec that has just ended, as Ginkgo says on its way. */
export interface EndedSpec {
  readonly name: string;
  readonly state: 'passed' | 'failed' | 'skipped';
  readonly seconds: number;
  /** Its number in the order of completion, and the number of selected specs. */
  readonly number: number;
  readonly of: number;
}

export interface GinkgoProgress {
  /** Takes the next piece of Ginkgo's standard output, however it was cut. */
  readonly read: (text: string) => void;
}

const ENDED = /^[•S] (?:\[(\w+)(?:[^\]]*)\] )?\[([\d.]+) seconds\]/;
const RULE = /^-{20,}$/;
const CHOSEN = /^Will run (\d+) of \d+ specs/;

/** Finds in Ginkgo's verbose output which specs end, and how. The report at the end is what counts. */
export function readGinkgoProgress(onEnd: (spec: EndedSpec) => void): GinkgoProgress {
  let rest = '';
  let chosen = 0;
  let number = 0;
  let heading = '';
  let ended: Pick<EndedSpec, 'state' | 'seconds'> | undefined;
  let isAfterRule = false;
  const readLine = (line: string): void => {
    const isRule = RULE.test(line);
    if (isAfterRule) heading = line;
    isAfterRule = isRule;
    if (ended !== undefined) {
      number += 1;
      // The name is in the next line, or, with a single process, at the beginning.
      onEnd({ ...ended, number, of: chosen, name: nameIn(isRule ? heading : line) });
      ended = undefined;
      return;
    }
    const match = ENDED.exec(line);
    if (match) ended = { state: stateOf(match[1]), seconds: Number(match[2]) };
    chosen = Number(CHOSEN.exec(line)?.[1] ?? chosen);
  };
  return {
    read(text) {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) readLine(line);
    },
  };
}

/** The line also has the labels once more at its end, and marks where in the spec it failed. */
function nameIn(line: string): string {
  return line
    .replace(/ \[[^[\]]*\]$/, '')
    .replace('[It] ', '')
    .trim();
}

function stateOf(word: string | undefined): EndedSpec['state'] {
  if (word === undefined) return 'passed';
  return word === 'SKIPPED' ? 'skipped' : 'failed';
}
