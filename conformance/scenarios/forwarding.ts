import type { KnownDifference, PodDeclaration, Scenario } from '../scenario.ts';
import {
  answeredBy,
  answeredOrRefused,
  answeredOrSilent,
  asker,
  clusterIP,
  differently,
  KERNEL,
  nodePort,
  OUR_IPVS,
  on,
} from '../words.ts';

const HEALTHY = ['a', 'b', 'c'];

/** Three endpoints that serve, and one that the EndpointSlice calls ready as well. */
function besides(fourth: PodDeclaration): Record<string, PodDeclaration> {
  return { a: on(1), b: on(2), c: on(1), fourth, near: asker(1), far: asker(2) };
}

const WEB = { web: { spec: { type: 'NodePort' } } };

const REFUSED: KnownDifference = {
  expect: answeredOrRefused(...HEALTHY),
  reason:
    'the kernel translates a connection to an endpoint without knowing whether it listens, so its refusal reaches the client',
};

const UNANSWERED: KnownDifference = {
  expect: answeredOrSilent(...HEALTHY),
  reason:
    'the kernel translates a connection to an endpoint without knowing whether it answers, so the client repeats its SYN to the same one',
};

/**
 * The slow endpoint answers after the others have answered so many connections more, in both families
 * together. With the 20 open connections of a client balanced over four endpoints it gets 5 of 105: the
 * speed of the machine is not in it.
 */
const SLOWER_BY = 200;
const HALF_ITS_SHARE = 1 / 8;
const OF_THE_SLOW_ONE = { sharedBy: [...HEALTHY, 'fourth'], of: 'fourth' };
const AN_EQUAL_SHARE = { ...OF_THE_SLOW_ONE, share: { moreThan: HALF_ITS_SHARE } };

/**
 * Connections are enough when chance gives a wrong verdict less than once in 1e8: each of 80 misses
 * one of four endpoints once in 1e10, and the slow one of four gets at most 50 of 400, which it should
 * get 100 of, once in 2e8.
 */
const MANY = 400;
const ENOUGH = 80;

export const forwardingScenarios: readonly Scenario[] = [
  {
    name: 'forwarding/dead-but-listed',
    title: 'No client notices an endpoint that is listed as ready and refuses connections',
    pods: besides(on(2, { fault: 'closed' })),
    services: WEB,
    steps: [
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web'), connections: MANY },
          { from: 'pod:far', to: clusterIP('web'), connections: ENOUGH },
          { from: 'node1', to: clusterIP('web'), connections: ENOUGH },
          { from: 'client', to: nodePort('web', 1), connections: ENOUGH },
        ].map((question) => ({
          ...question,
          expect: answeredBy(...HEALTHY),
          otherwise: differently(KERNEL, REFUSED),
        })),
      },
    ],
  },
  {
    name: 'forwarding/unreachable-but-listed',
    title: 'No client notices an endpoint that is listed as ready and answers no packet',
    pods: besides(on(2, { fault: 'unreachable' })),
    services: WEB,
    steps: [
      {
        ask: [
          { from: 'pod:near', to: clusterIP('web'), connections: ENOUGH },
          { from: 'client', to: nodePort('web', 1), connections: ENOUGH },
        ].map((question) => ({
          ...question,
          expect: answeredBy(...HEALTHY),
          otherwise: differently(KERNEL, UNANSWERED),
        })),
      },
    ],
  },
  {
    name: 'forwarding/slow-endpoint',
    title: 'An endpoint that answers late gets at most half its share of concurrent connections',
    pods: besides(on(2, { fault: { slowerBy: SLOWER_BY } })),
    services: WEB,
    steps: [
      {
        ask: [
          {
            from: 'pod:near',
            to: clusterIP('web'),
            connections: MANY,
            expect: { ...OF_THE_SLOW_ONE, share: { atMost: HALF_ITS_SHARE } },
            otherwise: {
              ...differently(KERNEL, {
                expect: AN_EQUAL_SHARE,
                reason: 'the kernel chooses at random, whatever an endpoint has to do already',
              }),
              ...differently(OUR_IPVS, {
                expect: AN_EQUAL_SHARE,
                reason:
                  'the scheduler that is the default, rr, takes each endpoint in turn, whatever it has to do already',
              }),
            },
          },
        ],
      },
    ],
  },
];
