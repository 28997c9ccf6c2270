import type { KnownDifference, Scenario, ServiceDeclaration } from '../scenario.ts';
import {
  answeredBy,
  asker,
  clusterIP,
  differently,
  fromEach,
  on,
  silent,
  stickyTo,
  UPSTREAM,
  vip,
} from '../words.ts';

const PODS = {
  a: on(1, { app: 'alpha' }),
  b: on(2, { app: 'beta' }),
  near: asker(1),
  far: asker(2),
};
const CLAIM: ServiceDeclaration = { externalIPs: ['shared'] };
const ASKERS = ['pod:near', 'pod:far', 'client@node1'];

const BY_CHANCE: KnownDifference = {
  expect: stickyTo('a', 'b'),
  reason: 'which of two Services with the same address and port is served is random',
};

export const conflictScenarios: readonly Scenario[] = [
  {
    name: 'conflicts/older-service-wins',
    title:
      'Of two Services that claim one external IP and port, the older one is served everywhere',
    pods: PODS,
    services: { alpha: CLAIM },
    steps: [
      {
        ask: [
          ...fromEach(ASKERS, { to: vip('shared', 'alpha'), expect: answeredBy('a') }),
          // Nobody claims this one: it goes where routes lead. Asking takes two seconds, so that the
          // two Services cannot have been made within the second that the API counts in.
          {
            from: 'pod:near',
            to: { address: 'shared', port: 81, protocol: 'TCP' },
            expect: silent,
            escapes: true,
          },
        ],
      },
      { change: [{ createService: 'beta', service: CLAIM }] },
      {
        ask: [
          ...fromEach(ASKERS, {
            to: vip('shared', 'alpha'),
            expect: answeredBy('a'),
            otherwise: differently(UPSTREAM, BY_CHANCE),
          }),
          // The address they share is all that they quarrel about.
          { from: 'pod:near', to: clusterIP('alpha'), expect: answeredBy('a') },
          { from: 'pod:near', to: clusterIP('beta'), expect: answeredBy('b') },
        ],
      },
    ],
  },
  {
    name: 'conflicts/loser-takes-over',
    title:
      'When the older of two Services that claim one address goes, the other is served, and stays',
    pods: PODS,
    services: { alpha: CLAIM },
    steps: [
      {
        ask: [
          {
            from: 'pod:near',
            to: { address: 'shared', port: 81, protocol: 'TCP' },
            expect: silent,
            escapes: true,
          },
        ],
      },
      { change: [{ createService: 'beta', service: CLAIM }] },
      { change: [{ deleteService: 'alpha' }] },
      { ask: fromEach(ASKERS, { to: vip('shared', 'beta'), expect: answeredBy('b') }) },
      {
        ask: [
          {
            from: 'pod:near',
            to: { address: 'shared', port: 81, protocol: 'TCP' },
            expect: silent,
            escapes: true,
          },
        ],
      },
      { change: [{ createService: 'alpha', service: CLAIM }] },
      {
        ask: fromEach(ASKERS, {
          to: vip('shared', 'beta'),
          expect: answeredBy('b'),
          otherwise: differently(UPSTREAM, BY_CHANCE),
        }),
      },
    ],
  },
];
