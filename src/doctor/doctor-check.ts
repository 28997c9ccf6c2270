import type { Finding } from './finding.ts';
import type { Check } from './run-checks.ts';
import type { Subject } from './subject.ts';

/** One question to this machine. */
export type DoctorCheck = Check<Subject, Finding>;

/** A check in two halves: what reads the machine, and the pure function that judges what was read. */
export interface CheckHalves<Facts> {
  readonly name: string;
  read(subject: Subject): Facts | Promise<Facts>;
  judge(facts: Facts): readonly Finding[];
}

export function check<Facts>({ name, read, judge }: CheckHalves<Facts>): DoctorCheck {
  return { name, run: async (subject) => judge(await read(subject)) };
}
