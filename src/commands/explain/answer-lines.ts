import { createInterface } from 'node:readline';
import type { Explanation } from '../../explain/explanation.ts';
import { printData } from '../terminal/print.ts';
import { visibleJson } from '../terminal/visible.ts';

/** One line of input: `TARGET [CLIENT [PROBE]]`. */
export interface AskedLine {
  readonly target: string;
  /** As `--from` takes it; undefined: its default. */
  readonly from?: string;
  /** As `--probe` takes it, or `usual`; undefined: as it was given for all. */
  readonly probe?: string;
}

/**
 * Answers each line of the input with one line of JSON, in order, until the input ends: the
 * explanation, or `error` with code and message.
 */
export async function answerLines(
  input: NodeJS.ReadableStream,
  answer: (asked: AskedLine) => Promise<Explanation>,
): Promise<void> {
  for await (const line of createInterface({ input })) {
    const [target = '', from, probe] = line.trim().split(/\s+/);
    if (target === '') continue;
    const asked = {
      target,
      ...(from === undefined ? {} : { from }),
      ...(probe === undefined ? {} : { probe }),
    };
    const reply = await replyTo(asked, answer);
    printData(visibleJson(JSON.stringify(reply)));
  }
}

async function replyTo(
  asked: AskedLine,
  answer: (asked: AskedLine) => Promise<Explanation>,
): Promise<object> {
  try {
    return await answer(asked);
  } catch (error) {
    // Whatever has a code is an answer to this line; the next one may have another.
    if (!(error instanceof Error) || !('code' in error)) throw error;
    return { error: { code: error.code, message: error.message } };
  }
}
