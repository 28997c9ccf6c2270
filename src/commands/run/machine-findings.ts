import type { MachineFinding } from '../../agent/status-page.ts';
import { DEFAULT_MODE } from '../../config/modes.ts';
import { CONNTRACK_ROOM } from '../../doctor/checks/conntrack-checks.ts';
import { IP_FORWARD } from '../../doctor/checks/ip-forward.ts';
import { runDoctorChecks } from '../../doctor/run-doctor-checks.ts';
import type { ServedNode, Subject } from '../../doctor/subject.ts';

const DEADLINE_MS = 1_000;

/** Those checks of `fairlead doctor` that only read a few settings: `status` may ask every second. */
export async function machineFindings(about: {
  readonly sysctls: Subject['sysctls'];
  readonly rows: ServedNode['rows'];
  /** A machine outside of the cluster forwards for nobody. */
  readonly isNode: boolean;
}): Promise<readonly MachineFinding[]> {
  const { sysctls, rows, isNode } = about;
  const subject: Subject = {
    sysctls,
    agent: { state: 'absent' },
    node: { rows } as ServedNode,
    leftInKernel: async () => ({ objects: [], unread: [] }),
    places: async () => ({ links: [], endpoints: [], podLinks: [], uplinks: [] }),
    modes: [],
    usedMode: DEFAULT_MODE,
  };
  const checks = isNode ? [IP_FORWARD, CONNTRACK_ROOM] : [CONNTRACK_ROOM];
  const results = await runDoctorChecks(checks, subject, DEADLINE_MS);
  return results
    .filter(({ level }) => level === 'problem' || level === 'note')
    .map(({ code, what, why, next }) => ({
      code,
      what: why === undefined ? what : `${what}: ${why}`,
      ...(next === undefined ? {} : { next }),
    }));
}
