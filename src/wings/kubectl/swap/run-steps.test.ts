import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CommandError } from '../../../commands/command-error.ts';
import { good, problem } from '../../../doctor/basic-finding.ts';
import { failed, PlantedKubectl, printed } from '../testing/planted-kubectl.ts';
import { runSteps, type StepListener } from './run-steps.ts';
import { allHold, type Step, type StepCheck } from './step.ts';

const QUIET: StepListener = {
  begins: () => undefined,
  runs: () => undefined,
  waits: () => undefined,
  ended: () => undefined,
};
const YES = [good('so')];
const NO = [problem('not so')];

/** A step that is done once its change was made, as far as `after` says. */
function step(kubectl: PlantedKubectl, title: string, after = YES): Step {
  const isMade: StepCheck = async () =>
    kubectl.asked.some(({ args }) => args.includes(title)) ? after : NO;
  const changes = [{ args: ['change', title] }];
  return { title, changes, isDone: isMade, check: isMade, timeoutMs: 0, next: 'mend it' };
}

function planted(complaintAt?: string): PlantedKubectl {
  return new PlantedKubectl({
    nodes: {},
    answers: (args) => (args.includes(complaintAt ?? '') ? failed('Forbidden') : printed({})),
  });
}

async function run(kubectl: PlantedKubectl, steps: readonly Step[], isDryRun = false) {
  const { signal } = new AbortController();
  const results = await runSteps(kubectl, { steps, isDryRun, listener: QUIET, signal });
  return {
    states: results.map(({ state }) => state),
    last: results.at(-1),
    changed: kubectl.asked.map(({ args }) => args[1]),
  };
}

describe('runSteps()', () => {
  it('makes no change after a check that fails', async () => {
    const kubectl = planted();
    const steps = [step(kubectl, 'a'), step(kubectl, 'b', NO), step(kubectl, 'c')];
    const { states, last, changed } = await run(kubectl, steps);
    assert.deepEqual(states, ['done', 'failed']);
    assert.deepEqual(changed, ['a', 'b']);
    assert.deepEqual([last?.failedAt, last?.why], ['check', ['not so']]);
  });

  it('stops at a change that kubectl does not make', async () => {
    const kubectl = planted('a');
    const { states, last, changed } = await run(kubectl, [step(kubectl, 'a'), step(kubectl, 'b')]);
    assert.deepEqual([states, changed], [['failed'], ['a']]);
    assert.deepEqual([last?.failedAt, last?.why], ['kubectl', ['kubectl change a: Forbidden']]);
  });

  it('continues where it was, and changes nothing once all is done', async () => {
    const kubectl = planted();
    const [a, b] = [step(kubectl, 'a'), step(kubectl, 'b')];
    await run(kubectl, [a]);
    assert.deepEqual((await run(kubectl, [a, b])).states, ['already', 'done']);
    const again = await run(kubectl, [a, b]);
    assert.deepEqual(
      [again.states, again.changed],
      [
        ['already', 'already'],
        ['a', 'b'],
      ],
    );
  });

  it('changes nothing in a dry run', async () => {
    const kubectl = planted();
    const { states, changed } = await run(kubectl, [step(kubectl, 'a'), step(kubectl, 'b')], true);
    assert.deepEqual([states, changed], [['planned', 'planned'], []]);
  });

  it('waits for a check that does not hold at first', async () => {
    const kubectl = planted();
    const answers = [NO, NO, YES];
    const check: StepCheck = async () => answers.shift() ?? assert.fail('asked again');
    const slow = { ...step(kubectl, 'a'), isDone: undefined, check, timeoutMs: 60_000 };
    assert.deepEqual((await run(kubectl, [slow])).states, ['done']);
  });

  it('takes a check that cannot be made for one that does not hold', async () => {
    const kubectl = planted();
    const check: StepCheck = async () => {
      throw new CommandError('no answer', { code: 'KUBECTL_FAILED', next: '' });
    };
    const { last } = await run(kubectl, [{ ...step(kubectl, 'a'), isDone: undefined, check }]);
    assert.deepEqual([last?.state, last?.why], ['failed', ['no answer']]);
  });
});

describe('allHold()', () => {
  it('has all complaints, or all that holds', async () => {
    const last = async (...found: (typeof YES)[]) => {
      const check = allHold(...found.map((each) => async () => each));
      const checking = { ...step(planted(), 'a'), isDone: undefined, changes: [], check };
      return (await run(planted(), [checking])).last;
    };
    const [held, not] = [await last(YES, YES), await last(NO, YES, NO)];
    assert.deepEqual([held?.state, held?.what, held?.why], ['done', 'so, so', []]);
    assert.deepEqual([not?.state, not?.what, not?.why], ['failed', '', ['not so', 'not so']]);
  });
});
