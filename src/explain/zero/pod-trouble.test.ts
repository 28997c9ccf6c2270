import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { podTrouble } from './pod-trouble.ts';
import type { ContainerState, ContainerThere, PodThere } from './surroundings.ts';
import { container, pod } from './testing/example-surroundings.ts';

function state(is: ContainerState['is'], reason = '', exitCode = 0): ContainerState {
  return { is, reason, message: '', exitCode };
}

function condition(type: string, reason = '', message = '') {
  return { type, status: 'False', reason, message };
}

function withContainer(...parts: readonly Partial<ContainerThere>[]): PodThere {
  return pod({ containers: parts.map((each) => container({ isReady: false, ...each })) });
}

describe('why a pod serves nobody', () => {
  it('is nothing for a pod that is ready', () => assert.equal(podTrouble(pod()), undefined));

  const unscheduled = '0/3 nodes are available: 3 Insufficient cpu.';
  const loop = {
    state: state('waiting', 'CrashLoopBackOff'),
    before: state('terminated', 'OOMKilled', 137),
  };
  const cases: readonly (readonly [what: string, pod: PodThere, text: string])[] = [
    ['that ends', pod({ isTerminating: true }), 'is terminating'],
    ['that has ended', pod({ phase: 'Succeeded' }), 'has ended'],
    ['that was evicted', pod({ phase: 'Failed', reason: 'Evicted' }), 'has failed (Evicted)'],
    [
      'that no node has room for',
      pod({
        phase: 'Pending',
        conditions: [condition('PodScheduled', 'Unschedulable', unscheduled)],
      }),
      `is not scheduled: ${unscheduled}`,
    ],
    [
      'that crashes',
      withContainer(loop),
      'waits for container web: CrashLoopBackOff, last time it ended with exit code 137 (OOMKilled)',
    ],
    [
      'whose init container fails, and not those that wait for it',
      withContainer(
        { name: 'migrate', isInit: true, state: state('terminated', 'Error', 1) },
        { state: state('waiting', 'PodInitializing') },
      ),
      'waits for init container migrate, which ended with exit code 1 (Error)',
    ],
    [
      'whose init container still runs',
      withContainer(
        { name: 'migrate', isInit: true },
        { state: state('waiting', 'PodInitializing') },
      ),
      'waits for init container migrate, which still runs',
    ],
    [
      'that has not started yet',
      withContainer({ isStarted: false, startupProbe: 'TCP :8080' }),
      'runs, but the startup probe of container web (TCP :8080) has not succeeded',
    ],
    [
      'whose readiness probe fails',
      withContainer({ readinessProbe: 'GET :8080/' }),
      'runs, but the readiness probe of container web (GET :8080/) does not succeed',
    ],
    [
      'whose containers are not there yet',
      pod({
        phase: 'Pending',
        containers: [container({ isReady: false, state: state('waiting', 'ContainerCreating') })],
      }),
      'waits for its containers to be created',
    ],
    [
      'whose readiness gate is closed',
      pod({ conditions: [condition('Ready', 'ReadinessGatesNotReady', 'gate is False')] }),
      'is not ready: ReadinessGatesNotReady: gate is False',
    ],
    [
      'whose node has gone',
      pod({ conditions: [condition('Ready')] }),
      'was ready, and its node node1 does not report any more',
    ],
    ['without an address', pod({ addresses: [] }), 'has no IP address yet'],
    ['of a manifest', pod({ phase: '' }), 'has no status in these manifests'],
  ];
  for (const [what, given, text] of cases) {
    it(`is said of a pod ${what}`, () => assert.equal(podTrouble(given)?.text, text));
  }

  it('shows the log of the container that ended, and of a crash the one before', () => {
    assert.deepEqual(podTrouble(withContainer(loop))?.next, [
      'logs',
      'web-1',
      '-c',
      'web',
      '--previous',
    ]);
    const ended = withContainer({ state: state('terminated', 'Error', 1) });
    assert.deepEqual(podTrouble(ended)?.next, ['logs', 'web-1', '-c', 'web']);
  });
});
