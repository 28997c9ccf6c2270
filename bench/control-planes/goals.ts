import { median } from '../../lab/host/spread.ts';
import type { Bound } from '../report/bounds.ts';
import { isSameSize, sizeText } from '../sizes.ts';
import type { ControlPlaneRun, ControlPlaneVisit } from './record.ts';
import { changeCpuMs } from './table.ts';

const PEER = 'cilium-load-balancer';

/** At every size, each of ours is to cost at most what Cilium's control plane costs. */
export function controlPlaneGoals({ visits }: ControlPlaneRun): Bound[] {
  const theirs = visits.filter(({ name, round }) => name === PEER && round === 1);
  return theirs.flatMap(({ size }) => {
    const here = visits.filter((visit) => isSameSize(visit.size, size));
    const names = new Set(here.map(({ name }) => name).filter((name) => name !== PEER));
    const of = (name: string, figure: (visit: ControlPlaneVisit) => number): number =>
      median(here.filter((visit) => visit.name === name).map(figure));
    return [...names].flatMap((name) => {
      const goal = (what: string, figure: (visit: ControlPlaneVisit) => number): Bound => ({
        what: `${name}: ${what} at ${sizeText(size)}, relative to Cilium`,
        figure: of(name, figure) / of(PEER, figure),
        atMost: 1,
        unit: 'times',
      });
      return [
        goal('CPU of a start', ({ start }) => start.cpuSeconds),
        goal('CPU of a change', changeCpuMs),
        goal('memory', ({ start }) => start.memory.residentBytes),
      ];
    });
  });
}
