import { failingWrites } from './failing-writes.ts';
import { must } from './plane-fault.ts';

export const MAP_FAULT = failingWrites({
  name: 'writes to maps fail',
  failing: 'maps',
  replaced: 'map writes',
  how: 'a batch half way',
  unit: 'writes',
  pauseMs: 0,
  alsoMust: (made) => {
    const strange = made.filter(({ by }) => by !== 'left' && by !== 'right');
    must(strange.length === 0, `${strange.length} connections were answered by ${strange[0]?.by}`);
    return ', none reached an endpoint of another Service';
  },
});
