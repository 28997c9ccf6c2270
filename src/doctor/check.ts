import type { Finding } from './finding.ts';
import type { Subject } from './subject.ts';

/** One question to this machine. */
export interface Check {
  /** As `-v` and the JSON name it. */
  readonly name: string;
  run(subject: Subject): Promise<readonly Finding[]>;
}

/** A check in two halves: what reads the machine, and the pure function that judges what was read. */
export interface CheckHalves<Facts> {
  readonly name: string;
  read(subject: Subject): Facts | Promise<Facts>;
  judge(facts: Facts): readonly Finding[];
}

export function check<Facts>({ name, read, judge }: CheckHalves<Facts>): Check {
  return { name, run: async (subject) => judge(await read(subject)) };
}
