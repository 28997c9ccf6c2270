import { constants } from 'node:os';
import { NetlinkError } from '../linux/netlink/netlink-error.ts';
import { SysctlError, systemCode } from '../linux/sysctl-error.ts';
import type { DoctorCheck } from './doctor-check.ts';
import { type Finding, ok, type Result, unasked } from './finding.ts';
import { runChecks } from './run-checks.ts';
import type { Subject } from './subject.ts';

const DEADLINE_MS = 20_000;
const NOT_PERMITTED = new Set([constants.errno.EPERM, constants.errno.EACCES]);

/** One that fails or takes too long says so. */
export async function runDoctorChecks(
  checks: readonly DoctorCheck[],
  subject: Subject,
  deadlineMs: number = DEADLINE_MS,
): Promise<readonly Result[]> {
  return await runChecks(checks, subject, {
    deadlineMs,
    late: (name) => lateFinding(name, deadlineMs),
    failed: failedFinding,
  });
}

function lateFinding(name: string, deadlineMs: number): Finding {
  return unasked('CHECK_LATE', {
    what: `${name}: no answer within ${deadlineMs / 1000} s`,
    why: 'what it asks for is not known',
    next: 'retry when the machine is less busy',
  });
}

/** The kernel's reason, and what is missing for an answer. */
function failedFinding(name: string, error: unknown): Finding {
  const message = error instanceof Error ? error.message : String(error);
  if (isDenied(error)) {
    return unasked('NOT_PERMITTED', {
      what: `${name}: ${message}`,
      why: 'the kernel answers only to a process with CAP_NET_ADMIN',
      next: 'run the command as root, or in the pod of the agent: kubectl exec … -- fairlead doctor',
    });
  }
  if (error instanceof SysctlError && error.code === 'SYSCTL_MISSING') {
    return ok(`${name}: ${error.message}: this kernel has no such setting`);
  }
  if (hasAdvice(error)) {
    const why = 'what the check asks for is not known';
    return unasked(error.code, { what: `${name}: ${message}`, why, next: error.next });
  }
  return unasked('CHECK_FAILED', {
    what: `${name}: ${message}`,
    why: 'what it asks for is not known',
    next: 'report it as a bug of Fairlead, with the output of fairlead doctor -o json',
  });
}

function isDenied(error: unknown): boolean {
  if (error instanceof NetlinkError) return NOT_PERMITTED.has(error.errno);
  if (error instanceof SysctlError) return error.code === 'SYSCTL_DENIED';
  return ['EPERM', 'EACCES'].includes(systemCode(error) ?? '');
}

/** An error of ours that says what to do. */
function hasAdvice(error: unknown): error is Error & { code: string; next: string } {
  return error instanceof Error && 'next' in error && systemCode(error) !== undefined;
}
