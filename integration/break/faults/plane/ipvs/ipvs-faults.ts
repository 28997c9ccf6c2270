import type { PlaneFault } from '../plane-fault.ts';
import { TOUCHES_OF_IPVS } from './touch-faults.ts';
import { IPVS_WRITE_FAULT } from './write-fault.ts';

/** What can happen to virtual servers, and to what gives them their connections. */
export const IPVS_FAULTS: readonly PlaneFault[] = [...TOUCHES_OF_IPVS, IPVS_WRITE_FAULT];
