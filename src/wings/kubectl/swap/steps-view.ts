import { recordAt, textAt } from '../../../cluster/json.ts';
import type { Colours } from '../../../commands/terminal/colour.ts';
import { wrapped } from '../../../commands/terminal/fit.ts';
import { visible } from '../../../commands/terminal/visible.ts';
import type { Change, Step, StepResult } from './step.ts';

/** As a person would type it; objects for its standard input are named. */
export function changeText({ args, objects = [] }: Change): string {
  const typed = `kubectl ${args.map(quoted).join(' ')}`;
  const names = objects.map(
    (each) => `${textAt(each, 'kind')} ${textAt(recordAt(each, 'metadata'), 'name')}`,
  );
  return names.length === 0 ? typed : `${typed}   # ${names.join(', ')}`;
}

function quoted(arg: string): string {
  return /^[\w./:=@,-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", `'\\''`)}'`;
}

/** The step with its commands, before they run. */
export function beginText(step: Step, place: string, { bold }: Pick<Colours, 'bold'>): string {
  const lines = step.changes.map((change) => `  $ ${changeText(change)}`);
  return [bold(`${place}  ${step.title}`), ...lines].join('\n');
}

/** How it ended, within the width. */
export function endText(
  { step, state, what, why, because }: StepResult,
  { width, colours }: { readonly width: number; readonly colours: Colours },
): string {
  const line = (text: string): string[] =>
    wrapped(visible(text), width - 2).map((each) => `  ${each}`);
  if (state === 'failed') {
    const reasons = why.flatMap((each) => line(`failed: ${each}`));
    return [...reasons.map(colours.red), ...line(`next: ${step.next}`)].join('\n');
  }
  if (state === 'planned') return line(['not run', ...because].join('; ')).join('\n');
  const head = state === 'already' && step.changes.length > 0 ? 'already so, not run' : 'ok';
  return line(`${head}: ${what}`).map(colours.green).join('\n');
}

/** For `-o json`. */
export function resultData({ step, state, what, why, because, failedAt }: StepResult): object {
  return {
    title: step.title,
    state,
    commands: step.changes.map(({ args, objects }) => ({
      command: ['kubectl', ...args],
      ...(objects === undefined ? {} : { objects }),
    })),
    ...(because.length === 0 ? {} : { because }),
    ...(what === '' ? {} : { found: what }),
    ...(why.length === 0 ? {} : { why }),
    ...(state === 'failed' ? { failedAt, next: step.next } : {}),
  };
}
