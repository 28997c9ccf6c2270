import { failingWrites } from '../failing-writes.ts';

export const IPVS_WRITE_FAULT = failingWrites({
  name: 'writes to IPVS fail',
  failing: 'ipvs',
  replaced: 'calls to IPVS',
  how: 'one that writes either with one of its messages rejected or half way',
  unit: 'calls',
  pauseMs: 10,
});
