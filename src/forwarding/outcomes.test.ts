import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ServiceObject, SliceEndpoint } from '../cluster/objects.ts';
import { compile } from './compile.ts';
import type { FrontendKind, NodeView, Outcome } from './model.ts';
import { elsewhere, endpoint, service, slice, view } from './testing/example-objects.ts';

const BOTH = [endpoint('10.1.0.1'), elsewhere('10.2.0.1')];
const REMOTE = [elsewhere('10.2.0.1')];

/** `pod | host | outside` in short: the outcome for a connection from each. */
function policy(asked: {
  kind: FrontendKind;
  service: Partial<ServiceObject>;
  endpoints: readonly SliceEndpoint[];
  view?: Partial<NodeView>;
}): string {
  const base = {
    type: 'LoadBalancer',
    externalIPs: ['198.18.0.1'],
    loadBalancerIPs: [{ ip: '198.18.0.2', ipMode: 'VIP' as const }],
    ports: [{ name: '', protocol: 'TCP', port: 80, nodePort: 30080 }],
  };
  const [row] = compile({
    service: service({ ...base, ...asked.service }),
    slices: [slice(asked.endpoints)],
    family: 'IPv4',
    view: view(asked.view),
  });
  const frontend = row?.frontends.find(({ kind }) => kind === asked.kind);
  assert.ok(frontend);
  const { pod, host, outside } = frontend.outcomes;
  return [pod, host, outside].map(short).join(' | ');
}

function short(outcome: Outcome): string {
  if (outcome.action === 'reject' && outcome.reason) return `reject (${outcome.reason})`;
  if (outcome.action !== 'forward') return outcome.action;
  return outcome.masquerade ? `${outcome.list}+masq` : outcome.list;
}

const EXTERNAL: readonly FrontendKind[] = ['external-ip', 'load-balancer-ip', 'node-port'];
const LOCAL_INSIDE = { internalTrafficPolicy: 'Local' } as const;
const LOCAL_OUTSIDE = { externalTrafficPolicy: 'Local' } as const;

describe('a cluster IP', () => {
  const kind = 'cluster-ip';
  it('masquerades everything but the pods of this node', () => {
    const found = policy({ kind, service: {}, endpoints: BOTH });
    assert.equal(found, 'cluster | cluster+masq | cluster+masq');
  });
  it('masquerades everything with masqueradeAll', () => {
    const found = policy({ kind, service: {}, endpoints: BOTH, view: { masqueradeAll: true } });
    assert.equal(found, 'cluster+masq | cluster+masq | cluster+masq');
  });
  it('masquerades nothing when pods cannot be detected', () => {
    const blind = { detectsPods: { IPv4: false, IPv6: false } };
    const found = policy({ kind, service: {}, endpoints: BOTH, view: blind });
    assert.equal(found, 'cluster | cluster | cluster');
  });
  it('with internal policy Local uses the endpoints of this node', () => {
    const found = policy({ kind, service: LOCAL_INSIDE, endpoints: BOTH });
    assert.equal(found, 'local | local+masq | local+masq');
  });
  it('with internal policy Local drops when only other nodes have endpoints', () => {
    const found = policy({ kind, service: LOCAL_INSIDE, endpoints: REMOTE });
    assert.equal(found, 'drop | drop | drop');
  });
  it('rejects when there is no endpoint anywhere, whatever the policy', () => {
    for (const policies of [{}, LOCAL_INSIDE, LOCAL_OUTSIDE]) {
      const found = policy({ kind, service: policies, endpoints: [] });
      assert.equal(found, 'reject | reject | reject');
    }
  });
  it('ignores the external policy', () => {
    const found = policy({ kind, service: LOCAL_OUTSIDE, endpoints: REMOTE });
    assert.equal(found, 'cluster | cluster+masq | cluster+masq');
  });
});

for (const kind of EXTERNAL) {
  describe(`a frontend of kind ${kind}`, () => {
    it('masquerades all clients, because replies must come back through this node', () => {
      const found = policy({ kind, service: {}, endpoints: BOTH });
      assert.equal(found, 'cluster+masq | cluster+masq | cluster+masq');
    });
    it('with external policy Local keeps the address of outside clients', () => {
      const found = policy({ kind, service: LOCAL_OUTSIDE, endpoints: BOTH });
      assert.equal(found, 'cluster | cluster+masq | local');
    });
    it('with external policy Local drops outside clients where no endpoint is local', () => {
      const found = policy({ kind, service: LOCAL_OUTSIDE, endpoints: REMOTE });
      assert.equal(found, 'cluster | cluster+masq | drop');
    });
    it('treats pods as outside when they cannot be detected', () => {
      const blind = { detectsPods: { IPv4: false, IPv6: true } };
      const found = policy({ kind, service: LOCAL_OUTSIDE, endpoints: REMOTE, view: blind });
      assert.equal(found, 'drop | cluster+masq | drop');
    });
    it('rejects when there is no endpoint anywhere', () => {
      const found = policy({ kind, service: LOCAL_OUTSIDE, endpoints: [] });
      assert.equal(found, 'reject | reject | reject');
    });
  });
}

describe('a machine without a Node object', () => {
  const machine = { isNode: false } as const;
  const unassigned: SliceEndpoint = { ...endpoint('10.3.0.1'), nodeName: '' };
  const why = 'reject (not-a-node)';

  it('rejects with internal policy Local, even if an endpoint has its host name', () => {
    for (const endpoints of [BOTH, REMOTE, [unassigned]]) {
      const found = policy({ kind: 'cluster-ip', service: LOCAL_INSIDE, endpoints, view: machine });
      assert.equal(found, `${why} | ${why} | ${why}`);
    }
  });
  it('forwards to all endpoints with policy Cluster', () => {
    const found = policy({ kind: 'cluster-ip', service: {}, endpoints: BOTH, view: machine });
    assert.equal(found, 'cluster | cluster+masq | cluster+masq');
  });
  it('rejects without another reason where no endpoint serves', () => {
    const of = { kind: 'cluster-ip', service: LOCAL_INSIDE, endpoints: [], view: machine } as const;
    assert.equal(policy(of), 'reject | reject | reject');
  });
  for (const kind of EXTERNAL) {
    it(`with external policy Local rejects clients of other machines at a ${kind}`, () => {
      const found = policy({ kind, service: LOCAL_OUTSIDE, endpoints: BOTH, view: machine });
      assert.equal(found, `cluster | cluster+masq | ${why}`);
    });
  }
  it('has no local endpoint in any list', () => {
    const [row] = compile({
      service: service({ internalTrafficPolicy: 'Local', type: 'NodePort' }),
      slices: [slice([...BOTH, unassigned])],
      family: 'IPv4',
      view: view({ ...machine, nodeName: '' }),
    });
    assert.deepEqual(row?.localEndpoints, []);
    const all = row?.clusterEndpoints ?? [];
    assert.ok(all.every(({ local }) => !local));
  });
});
