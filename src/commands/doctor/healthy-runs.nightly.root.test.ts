import { before, describe, it } from 'node:test';
import { MODE_NAMES } from '../../config/modes.ts';
import { enterOwnNetwork } from '../../linux/netlink/testing/own-namespace.ts';
import { cannotRun } from './testing/agent-in-mode.ts';
import { layNetwork } from './testing/examined-node.ts';
import { assertHealthyRuns, RUNS } from './testing/healthy-runs.ts';

before(() => {
  enterOwnNetwork();
  layNetwork();
});

/** That of IPVS has a file of its own, for a kernel that has it. */
const MODES = MODE_NAMES.filter((mode) => mode !== 'ipvs');

describe('a healthy node', { concurrency: false }, () => {
  for (const mode of MODES) {
    it(`has no complaint in ${RUNS} runs in mode ${mode}`, { skip: cannotRun(mode) }, async (t) => {
      await assertHealthyRuns(t, mode);
    });
  }
});
