import { WITHOUT_IPVS } from '../../../src/linux/ipvs/testing/load-ipvs.ts';
import { testTop } from './in-mode.ts';

testTop({ mode: 'ipvs', knowsLive: true, lateTicks: 4, skip: WITHOUT_IPVS });
