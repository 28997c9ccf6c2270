import { CHECKS } from '../../doctor/checks.ts';
import { preflightOf, readMachine } from '../../doctor/preflight.ts';
import { type Report, reportOf } from '../../doctor/report.ts';
import { runDoctorChecks } from '../../doctor/run-doctor-checks.ts';
import type { Patient } from './subject.ts';

/** Makes every check. */
export async function reportOn({ subject, agent }: Patient): Promise<Report> {
  const results = await runDoctorChecks(CHECKS, subject);
  const modes = preflightOf(subject.modes, await readMachine());
  return reportOf({ results, modes, mode: subject.usedMode, node: agent?.nodeName });
}
