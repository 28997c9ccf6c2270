import { before, describe, it } from 'node:test';
import { layNetwork } from '../../../src/commands/doctor/testing/examined-node.ts';
import { MODE_NAMES } from '../../../src/config/modes.ts';
import { enterOwnNetwork } from '../../../src/linux/netlink/testing/own-namespace.ts';
import { cannotRun } from './agent-in-mode.ts';
import { assertHealthyRuns, RUNS } from './healthy-runs.ts';

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
