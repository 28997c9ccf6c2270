import { LabError } from '../../lab/host/errors.ts';
import { cpuSecondsOf, memoryOf } from '../control/process-figures.ts';
import type { ApiCost } from './record.ts';
import type { FleetSite } from './site.ts';

/** The process that serves the fleet; another one after it was replaced. */
function apiServerPid({ lab }: FleetSite): number {
  const found = lab.daemons.find(({ name }) => name === 'kube-apiserver');
  if (found) return found.pid;
  throw new LabError('LAB_NOT_FOUND', 'the lab has no API server', {
    next: 'read the logs of the lab',
  });
}

/** What some work costs the API server. */
export async function apiCostOf(site: FleetSite, work: () => Promise<void>): Promise<ApiCost> {
  const pid = apiServerPid(site);
  const cpuBefore = await cpuSecondsOf(pid);
  const bytesBefore = await site.apiBytes.read();
  await work();
  // Of a new process everything counts: it was started by the work.
  const cpuAfter = await cpuSecondsOf(apiServerPid(site));
  const isSame = apiServerPid(site) === pid;
  return {
    cpuSeconds: cpuAfter - (isSame ? cpuBefore : 0),
    sentBytes: (await site.apiBytes.read()) - bytesBefore,
  };
}

export async function apiServerBytes(site: FleetSite): Promise<number> {
  return (await memoryOf(apiServerPid(site))).residentBytes;
}
