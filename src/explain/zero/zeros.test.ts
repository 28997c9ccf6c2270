import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Prediction } from '../../forwarding/answer/prediction.ts';
import type { Candidate } from '../../forwarding/candidates.ts';
import type { Forwarding, Frontend, NodeView, Outcome } from '../../forwarding/model.ts';
import { candidate, pod, service, surroundings } from './testing/example-surroundings.ts';
import { hasZero, type KnownRow, zerosOf } from './zeros.ts';

const VIEW = { nodeName: 'node1', zone: '' } as NodeView;
const FORWARD = { action: 'forward', list: 'cluster', masquerade: false } as const;
const REJECT = { action: 'reject' } as const;
const BACKING = { hasSelector: true, slices: 1, endpoints: 1, ports: [] };

function row(family: 'IPv4' | 'IPv6', outcome: Outcome): Forwarding {
  const address = family === 'IPv4' ? '10.96.0.10' : 'fd96::10';
  const outcomes = { pod: outcome, host: outcome, outside: outcome };
  return {
    id: { namespace: 'shop', service: 'web', port: 'http', protocol: 'TCP', family },
    frontends: [{ kind: 'cluster-ip', address, port: 80, outcomes }],
    clusterEndpoints: [],
    localEndpoints: [],
    affinitySeconds: 0,
  };
}

function forwarded(to: Forwarding): Prediction {
  const [frontend] = to.frontends as readonly [Frontend];
  return {
    code: 'WOULD_REACH',
    action: 'forward',
    row: to,
    frontend,
    list: 'cluster',
    masquerade: false,
    endpoints: [{ address: '10.1.0.2', port: 8080, local: true }],
    affinitySeconds: 0,
  };
}

function known(forwarding: Forwarding, type: string, ...candidates: Candidate[]): KnownRow {
  return { forwarding, candidates, backing: { ...BACKING, type } };
}

const READY = candidate({ state: 'ready' });
const IPV4 = row('IPv4', FORWARD);

describe('zeros around a connection that is forwarded', () => {
  it('are none for a Service that lacks nothing', () => {
    const asked = {
      prediction: forwarded(IPV4),
      rows: [known(IPV4, 'ClusterIP', READY)],
      view: VIEW,
    };
    assert.equal(hasZero(asked), false);
    assert.deepEqual(zerosOf(asked, surroundings()), { remarks: [] });
  });

  it('are the other family that has no endpoints', () => {
    const rows = [known(IPV4, 'ClusterIP', READY), known(row('IPv6', REJECT), 'ClusterIP')];
    const asked = { prediction: forwarded(IPV4), rows, view: VIEW };
    assert.equal(hasZero(asked), true);
    const { remarks, cause, next } = zerosOf(asked, surroundings({ pods: [pod()] }));
    assert.equal(cause, undefined);
    assert.deepEqual(remarks, [
      {
        topic: 'IPv6',
        text: 'shop/web:http ([fd96::10]:80) has no endpoint: its ready pod has no IPv6 address',
      },
    ]);
    assert.match(next?.join() ?? '', /custom-columns=POD:/);
  });

  it('are the address that a load balancer has not given yet, and who would give it', () => {
    const rows = [known(IPV4, 'LoadBalancer', READY)];
    const asked = { prediction: forwarded(IPV4), rows, view: VIEW };
    assert.equal(hasZero(asked), true);
    const said = (parts: Parameters<typeof service>[0]) =>
      zerosOf(asked, surroundings({ service: service(parts) })).remarks[0]?.text ?? '';
    assert.match(
      said({}),
      /has no load-balancer address yet; it comes from the cloud's controller/,
    );
    const ofClass = said({ loadBalancerClass: 'example.com/lb' });
    assert.match(ofClass, /from the controller of its loadBalancerClass, example\.com\/lb$/);
    const named = said({ ingress: [{ ip: '', hostname: 'lb.example.com', ipMode: '' }] });
    assert.match(named, /its address is a name, lb\.example\.com/);
    const proxied = said({ ingress: [{ ip: '198.18.0.1', hostname: '', ipMode: 'Proxy' }] });
    assert.match(proxied, /198\.18\.0\.1 has ipMode Proxy/);
    const unread = zerosOf(asked, surroundings({ more: { service: { unknown: 'forbidden' } } }));
    assert.match(unread.remarks[0]?.text ?? '', /\(who would: not known, forbidden\)$/);
  });

  it('are not asked of a machine that serves no load-balancer addresses', () => {
    const view: NodeView = { ...VIEW, unserved: ['load-balancer-ip'] };
    const rows = [known(IPV4, 'LoadBalancer', READY)];
    assert.equal(hasZero({ prediction: forwarded(IPV4), rows, view }), false);
  });

  it('are endpoints that are ready, if terminating ones are the last resort', () => {
    const rows = [known(IPV4, 'ClusterIP', candidate({ state: 'terminating' }))];
    const { remarks } = zerosOf({ prediction: forwarded(IPV4), rows, view: VIEW }, surroundings());
    assert.match(
      remarks[0]?.text ?? '',
      /no endpoint of shop\/web is ready: those that are termin/,
    );
  });
});

describe('zeros of a connection that no endpoint gets', () => {
  it('give the reason and what to do', () => {
    const empty = row('IPv4', REJECT);
    const [frontend] = empty.frontends as readonly [Frontend];
    const prediction = {
      code: 'REFUSED_NO_ENDPOINTS',
      action: 'reject',
      row: empty,
      frontend,
    } as const;
    const asked = { prediction, rows: [known(empty, 'ClusterIP')], view: VIEW };
    const { cause, remarks, next } = zerosOf(asked, surroundings());
    assert.equal(cause, 'no pod matches');
    assert.equal(remarks[0]?.topic, 'because');
    assert.deepEqual(next, ['kubectl -n shop get pods --show-labels']);
  });

  it('are those of this node where the policy is Local', () => {
    const empty = row('IPv4', { action: 'drop' });
    const [frontend] = empty.frontends as readonly [Frontend];
    const prediction = {
      code: 'DROPPED_NO_LOCAL_ENDPOINTS',
      action: 'drop',
      row: empty,
      frontend,
    } as const;
    const elsewhere = candidate({ state: 'ready', local: false, nodeName: 'node2' });
    const ask = (candidates: Candidate[], around = surroundings()) =>
      zerosOf({ prediction, rows: [known(empty, 'ClusterIP', ...candidates)], view: VIEW }, around);
    assert.deepEqual(ask([elsewhere]), { remarks: [] });
    const here = ask([elsewhere, candidate()]);
    assert.equal(here.remarks[0]?.text, 'its endpoint on this node, 10.1.0.2:8080, is not ready');
    const pods = [pod({ isTerminating: true }), pod({ name: 'web-2', nodeName: 'node2' })];
    const ending = ask([elsewhere, candidate()], surroundings({ pods }));
    assert.match(
      ending.remarks[0]?.text ?? '',
      /^only pod web-1 matches app=web on node node1, and it is term/,
    );
  });
});
