import { parseArgs } from 'node:util';
import { PLANS, type Plan } from './part.ts';
import { UsageError } from './usage-error.ts';

export interface Options {
  readonly plan: Plan;
  readonly only: readonly string[];
  readonly resume: boolean;
  readonly list: boolean;
  readonly report: boolean;
  readonly keepGoing: boolean;
  readonly help: boolean;
  readonly docs: string | undefined;
  /** Seconds of the parts that the script which started the runner has done, by name. */
  readonly spent: ReadonlyMap<string, number>;
  /** Which of these had to fetch what a cache would have had. */
  readonly cold: readonly string[];
}

export const HELP = `usage: .ci/run | .ci/nightly | npm run ci -- run|nightly, with
  --list          print the parts and their budgets, and run none
  --only NAME     only this part, or several separated by commas
  --resume        skip parts that have passed for the same commit
  --keep-going    continue after a failure (nightly always does)
  --report        print the table of the last results, and run nothing
  --docs FILE     write the table of the parts into a document, between its marks`;

export function parseOptions(args: readonly string[]): Options {
  const { values, positionals } = parse(args);
  const [plan, ...others] = positionals;
  if (!isPlan(plan) || others.length > 0)
    throw new UsageError(`name one plan, run or nightly\n${HELP}`);
  const only = (values.only ?? []).flatMap((names) => names.split(','));
  return {
    plan,
    only,
    resume: values.resume === true,
    list: values.list === true,
    report: values.report === true,
    keepGoing: values['keep-going'] === true || plan === 'nightly',
    help: values.help === true,
    docs: values.docs,
    spent: new Map((values.spent ?? []).map(spentPart)),
    cold: values.cold ?? [],
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        only: { type: 'string', multiple: true },
        resume: { type: 'boolean' },
        list: { type: 'boolean' },
        report: { type: 'boolean' },
        'keep-going': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
        docs: { type: 'string' },
        spent: { type: 'string', multiple: true },
        cold: { type: 'string', multiple: true },
      },
    });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n${HELP}`);
  }
}

function isPlan(text: string | undefined): text is Plan {
  return PLANS.some((plan) => plan === text);
}

/** `npm-packages=12`. */
function spentPart(text: string): [string, number] {
  const [, name, seconds] = text.match(/^([a-z-]+)=(\d+)$/) ?? [];
  if (name === undefined) throw new UsageError(`--spent takes NAME=SECONDS, not '${text}'`);
  return [name, Number(seconds)];
}
