import { before, describe, it } from 'node:test';
import { enterOwnNetwork } from '../../linux/netlink/testing/own-namespace.ts';
import { cannotRun } from './testing/agent-in-mode.ts';
import { layNetwork } from './testing/examined-node.ts';
import { assertHealthyRuns, RUNS } from './testing/healthy-runs.ts';

before(() => {
  enterOwnNetwork();
  layNetwork();
});

describe('a healthy node', () => {
  it(`has no complaint in ${RUNS} runs in mode ipvs`, { skip: cannotRun('ipvs') }, async (t) => {
    await assertHealthyRuns(t, 'ipvs');
  });
});
