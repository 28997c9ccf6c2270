import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Scenario, Step } from '../scenario.ts';
import {
  answeredBy,
  answeredSeeing,
  asker,
  clusterIP,
  nodePort,
  on,
  refused,
  stickyTo,
  UDP_PORT,
  vip,
} from '../words.ts';
import { type Traits, traitsOf } from './traits.ts';

const PODS = { a: on(1), b: on(2, { hostNetwork: true }), near: asker(1) };

function only(more: Partial<Scenario> & { steps: readonly Step[] }): Traits {
  const traits = traitsOf({ name: 'x/y', title: 'X', pods: PODS, services: { web: {} }, ...more });
  assert.equal(traits.length, 1);
  return traits[0] as Traits;
}

function qualitiesOf(more: Partial<Scenario> & { steps: readonly Step[] }): string[] {
  return [...only(more).qualities].sort();
}

const ASK: Step = { ask: [{ from: 'pod:near', to: clusterIP('web'), expect: answeredBy('a') }] };

describe('traitsOf', () => {
  it('reads the client, the target and the expectation', () => {
    const ask = [
      { from: 'client@node2', to: clusterIP('web'), expect: answeredSeeing('node', 'a') },
    ];
    const { asker: from, target, protocol, answer } = only({ steps: [{ ask }] });
    assert.deepEqual(
      [from, target, protocol, answer],
      ['client', 'clusterIP', 'TCP', 'answeredBy node'],
    );
  });

  it('takes a machine that has the proxy itself for another client than one without', () => {
    const ask = [{ from: 'machine', to: clusterIP('web'), expect: answeredBy('a') }];
    assert.equal(only({ steps: [{ ask }] }).asker, 'machine');
    const setup = { outside: { clients: ['docker0'] } };
    const { asker: from, qualities } = only({ setup, steps: [{ ask }] });
    assert.equal(from, 'outside machine');
    assert.deepEqual([...qualities], ['clients=docker0']);
  });

  it('finds the protocol of the port that is asked', () => {
    const services = { web: { ports: [{ name: 'http', port: 80 }, UDP_PORT] } };
    const ask = (port?: string | number): Step => ({
      ask: [{ from: 'node1', to: clusterIP('web', port), expect: refused }],
    });
    const protocols = ['http', 'dns', 53, undefined].map(
      (port) => only({ services, steps: [ask(port)] }).protocol,
    );
    assert.deepEqual(protocols, ['TCP', 'UDP', 'UDP', 'TCP']);
  });

  it('distinguishes load-balancer addresses, external IPs and others', () => {
    const services = { web: { externalIPs: ['e'], loadBalancer: [{ name: 'l' }] } };
    const targets = ['e', 'l', 'x', 'node:1'].map(
      (name) =>
        only({
          services,
          steps: [{ ask: [{ from: 'node1', to: vip(name, 'web'), expect: refused }] }],
        }).target,
    );
    assert.deepEqual(targets, ['externalIP', 'loadBalancer', 'address', 'node']);
  });

  it('finds an external IP that only a change adds', () => {
    const change: Step = { change: [{ patchService: 'web', to: { externalIPs: ['e'] } }] };
    const ask = [{ from: 'node1', to: vip('e', 'web'), expect: answeredBy('a') }];
    const { target, qualities } = only({ steps: [change, { ask }] });
    assert.equal(target, 'externalIP');
    assert.ok(qualities.has('after patchService'));
  });

  it('reads the fields of the Service that is asked, and of no other', () => {
    const services = {
      web: { spec: { sessionAffinity: 'ClientIP', loadBalancerSourceRanges: ['192.0.2.0/24'] } },
      other: { spec: { externalTrafficPolicy: 'Local' } },
    };
    assert.deepEqual(qualitiesOf({ services, steps: [ASK] }), [
      'endpoint near',
      'loadBalancerSourceRanges',
      'sessionAffinity=ClientIP',
    ]);
  });

  it('knows a pod that may reach itself, and an endpoint on the network of its node', () => {
    const hairpin = [{ from: 'pod:a', to: clusterIP('web'), expect: stickyTo('a') }];
    assert.deepEqual(qualitiesOf({ steps: [{ ask: hairpin }] }), ['endpoint near', 'hairpin']);
    const host = [{ from: 'node1', to: nodePort('web', 1), expect: answeredBy('b') }];
    assert.deepEqual(qualitiesOf({ steps: [{ ask: host }] }), ['endpoint far', 'hostNetwork']);
  });

  it('reads settings of the proxy and the pod network', () => {
    const setup = { podNetwork: 'bridge', proxy: { masqueradeAll: true } } as const;
    assert.deepEqual(qualitiesOf({ setup, steps: [ASK] }), [
      'endpoint near',
      'masqueradeAll=true',
      'podNetwork=bridge',
    ]);
  });

  it('reads how a question is asked, and what is special about the pods that may answer', () => {
    const pods = { ...PODS, a: { ...on(1), pathMtu: 1280 } as never };
    const ask = [{ from: 'node1', to: clusterIP('web'), expect: answeredBy('a'), bytes: 5_000 }];
    assert.deepEqual(qualitiesOf({ pods, steps: [{ ask }] }), [
      'bytes',
      'endpoint near',
      'pathMtu',
    ]);
  });

  it('reads the target inside a target, and its Service', () => {
    const services = { web: { spec: { sessionAffinity: 'ClientIP' } } };
    const ask = [{ from: 'node1', to: { ping: clusterIP('web') } as never, expect: refused }];
    const { target, qualities } = only({ services, steps: [{ ask }] });
    assert.equal(target, 'ping clusterIP');
    assert.ok(qualities.has('sessionAffinity=ClientIP'));
  });

  it('counts a held flow when it begins and when it is asked again', () => {
    const to = clusterIP('web');
    const traits = traitsOf({
      name: 'x/y',
      title: 'X',
      pods: PODS,
      services: { web: {} },
      steps: [
        { hold: { name: 'flow', from: 'pod:near', to, expect: answeredBy('a') } },
        { change: [{ removePod: 'a' }] },
        { held: 'flow', expect: refused },
      ],
    });
    assert.deepEqual(
      traits.map(({ answer, qualities }) => [answer, [...qualities].sort()]),
      [
        ['answeredBy', ['endpoint near']],
        ['refused', ['after removePod', 'held']],
      ],
    );
  });
});
