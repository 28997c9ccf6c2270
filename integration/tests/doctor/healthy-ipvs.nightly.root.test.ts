import { before, describe, it } from 'node:test';
import { layNetwork } from '../../../src/commands/doctor/testing/examined-node.ts';
import { enterOwnNetwork } from '../../../src/linux/netlink/testing/own-namespace.ts';
import { cannotRun } from './agent-in-mode.ts';
import { assertHealthyRuns, RUNS } from './healthy-runs.ts';

before(() => {
  enterOwnNetwork();
  layNetwork();
});

describe('a healthy node', () => {
  it(`has no complaint in ${RUNS} runs in mode ipvs`, { skip: cannotRun('ipvs') }, async (t) => {
    await assertHealthyRuns(t, 'ipvs');
  });
});
