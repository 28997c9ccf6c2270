import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Forwarding, type Frontend, servicePortKey } from '../forwarding/model.ts';
import { targetKey, targetOf } from './flow-keys.ts';
import { FrontendIndex } from './frontend-index.ts';

const FORWARD = { action: 'forward', list: 'cluster', masquerade: true } as const;
const FRONTEND: Frontend = {
  kind: 'external-ip',
  address: '198.18.0.1',
  port: 53,
  outcomes: { pod: FORWARD, host: FORWARD, outside: FORWARD },
};

function row(frontends: readonly Frontend[], endpoints: readonly string[]): Forwarding {
  return {
    id: { namespace: 'ns', service: 'dns', port: '', protocol: 'UDP', family: 'IPv4' },
    frontends,
    clusterEndpoints: endpoints.map((address) => ({ address, port: 53, local: false })),
    localEndpoints: [],
    affinitySeconds: 0,
  };
}

describe('FrontendIndex', () => {
  it('reads no frontend of a row that got one more endpoint', () => {
    let reads = 0;
    const frontends = new Proxy([FRONTEND], {
      get: (list, name) => {
        reads++;
        return Reflect.get(list, name);
      },
    });
    const index = new FrontendIndex();
    const [before, after] = [
      row(frontends, ['10.0.0.1']),
      row(frontends, ['10.0.0.1', '10.0.0.2']),
    ];
    const key = servicePortKey(before.id);
    assert.equal(index.acknowledge([{ key, before: undefined, after: before }]).size, 1);
    reads = 0;
    assert.equal(index.acknowledge([{ key, before, after }]).size, 0);
    assert.equal(reads, 0);
    const target = targetOf(after, FRONTEND) ?? assert.fail();
    assert.equal(index.owner(targetKey(target)), after);
    assert.equal(index.acknowledge([{ key, before: after, after: before }]).size, 1);
    index.acknowledge([{ key, before, after: undefined }]);
    assert.equal(index.owner(targetKey(target)), undefined);
  });

  it('removes a row whose removal does not name what it was', () => {
    const index = new FrontendIndex();
    const known = row([FRONTEND], ['10.0.0.1']);
    const key = servicePortKey(known.id);
    const target = targetOf(known, FRONTEND) ?? assert.fail();
    index.adopt([known]);
    assert.equal(index.acknowledge([{ key, before: undefined, after: undefined }]).size, 1);
    assert.equal(index.owner(targetKey(target)), undefined);
  });
});
