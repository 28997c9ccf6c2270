import { LabError } from '../../lab/host/errors.ts';

/** One step of a procedure in a document, as a person would do it. */
export interface Step {
  readonly title: string;
  /** Its code blocks, one after the other. */
  readonly script: string;
}

const HEADING = /^##+ /;
const STEP = /^\*\*(\d+\. .+?)\*\*/;
const FENCE = '```';
const SHELL_FENCE = '```sh';

/**
 * The steps of a section in a Markdown text: a paragraph that begins with `**1. …**` begins a step,
 * and every block of shell code until the next belongs to it. What is tried is what is written.
 */
export function stepsIn(markdown: string, heading: string): Step[] {
  const lines = markdown.split('\n');
  const start = lines.indexOf(heading) + 1;
  const length = lines.slice(start).findIndex((line) => HEADING.test(line));
  const section = start === 0 ? [] : lines.slice(start, length < 0 ? undefined : start + length);
  const steps: { title: string; script: string }[] = [];
  let isShell = false;
  for (const line of section) {
    if (line.startsWith(FENCE)) isShell = line === SHELL_FENCE;
    else if (isShell && steps.length > 0) appendTo(steps.at(-1), line);
    const title = isShell ? undefined : STEP.exec(line)?.[1];
    if (title !== undefined) steps.push({ title: title.replace(/[.,:]$/, ''), script: '' });
  }
  if (steps.length > 0) return steps;
  throw new LabError('LAB_USAGE', `there are no steps in the section '${heading}'`, {
    next: 'begin its steps with **1. …**',
  });
}

/** A procedure in which some steps are done another way; the number of a step tells which. */
export function withSteps(steps: readonly Step[], others: readonly Step[]): Step[] {
  const replacing = new Map(others.map((step) => [numberOf(step), step]));
  const all = steps.map((step) => {
    const other = replacing.get(numberOf(step));
    replacing.delete(numberOf(step));
    return other ?? step;
  });
  const [unknown] = replacing.values();
  if (unknown === undefined) return all;
  throw new LabError('LAB_USAGE', `no step has the number of '${unknown.title}'`, {
    next: 'give it the number of the step that it replaces',
  });
}

function numberOf({ title }: Step): string {
  return title.slice(0, title.indexOf('.'));
}

function appendTo(step: { script: string } | undefined, line: string): void {
  if (step !== undefined) step.script += `${line}\n`;
}
