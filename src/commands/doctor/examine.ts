import { CHECKS } from '../../doctor/doctor-checks.ts';
import { type Report, reportOf } from '../../doctor/doctor-report.ts';
import { preflightOf, readMachine } from '../../doctor/preflight.ts';
import { runDoctorChecks } from '../../doctor/run-doctor-checks.ts';
import type { Patient } from './examined-subject.ts';

/** Makes every check. */
export async function reportOn({ subject, agent }: Patient): Promise<Report> {
  const results = await runDoctorChecks(CHECKS, subject);
  const modes = preflightOf(subject.modes, await readMachine());
  return reportOf({ results, modes, mode: subject.usedMode, node: agent?.nodeName });
}
