import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compile } from '../forwarding/compile.ts';
import { service, view } from '../forwarding/testing/example-objects.ts';
import { goalsOf, parseTarget } from './target.ts';

describe('parseTarget()', () => {
  const cases: Readonly<Record<string, object>> = {
    'shop/web': { by: 'service', service: 'shop/web' },
    web: { by: 'service', service: 'default/web' },
    'shop/web:http': { by: 'service', service: 'shop/web', port: 'http' },
    'shop/dns:53/udp': { by: 'service', service: 'shop/dns', port: '53', protocol: 'UDP' },
    'shop/dns/udp': { by: 'service', service: 'shop/dns', protocol: 'UDP' },
    'shop/udp': { by: 'service', service: 'shop/udp' },
    '10.96.0.1:80': { by: 'address', to: { address: '10.96.0.1', port: 80, protocol: 'TCP' } },
    '10.96.0.1:5/SCTP': { by: 'address', to: { address: '10.96.0.1', port: 5, protocol: 'SCTP' } },
    '[FD00::1]:53/udp': { by: 'address', to: { address: 'fd00::1', port: 53, protocol: 'UDP' } },
  };
  for (const [text, target] of Object.entries(cases)) {
    it(`reads ${text}`, () => assert.deepEqual(parseTarget(text), target));
  }
  for (const text of ['', '/', 'a/b/c', '10.96.0.1:0', '10.96.0.1:65536', 'fd00::1:80', 'a:b:c']) {
    it(`does not read '${text}'`, () => assert.equal(parseTarget(text), undefined));
  }
});

describe('goalsOf()', () => {
  const ports = [
    { name: 'http', protocol: 'TCP', port: 80, nodePort: 30080 },
    { name: 'dns', protocol: 'UDP', port: 53, nodePort: 0 },
  ];
  const spec = { ports, externalIPs: ['198.18.0.1'] };
  const rows = (['IPv4', 'IPv6'] as const).flatMap((family) =>
    compile({ service: service(spec), slices: [], family, view: view() }),
  );
  const pod = { class: 'pod', family: undefined, nodeIPs: ['172.16.0.11'] } as const;
  const goals = (more: object, client: object = pod) =>
    goalsOf({ by: 'service', service: 'ns/web', ...more }, rows, { ...pod, ...client });
  const texts = (more: object, client: object = pod) => {
    const found = goals(more, client);
    return found.is === 'frontends'
      ? found.goals.map(({ to }) => `${to.address} ${to.port}/${to.protocol}`)
      : found.is;
  };

  it('is every port and family at the cluster IP, for a pod and for the node', () => {
    const all = ['10.96.0.1 80/TCP', '10.96.0.1 53/UDP', 'fd00:96::1 80/TCP', 'fd00:96::1 53/UDP'];
    assert.deepEqual(texts({}), all);
    assert.deepEqual(texts({}, { class: 'host' }), all);
    assert.deepEqual(texts({ port: 'dns' }), ['10.96.0.1 53/UDP', 'fd00:96::1 53/UDP']);
    assert.deepEqual(texts({ port: '53' }, { family: 'IPv4' }), ['10.96.0.1 53/UDP']);
    assert.deepEqual(texts({ protocol: 'UDP' }, { family: 'IPv6' }), ['fd00:96::1 53/UDP']);
  });

  it('is every other address for a client outside, node ports at this node', () => {
    const outside = { class: 'outside', family: 'IPv4' };
    assert.deepEqual(texts({ port: 'http' }, outside), [
      '198.18.0.1 80/TCP',
      '172.16.0.11 30080/TCP',
    ]);
  });

  it('is only the address that is picked, whoever asks', () => {
    assert.deepEqual(texts({}, { at: '198.18.0.1' }), ['198.18.0.1 80/TCP', '198.18.0.1 53/UDP']);
    const nodePort = { port: 'http' };
    assert.deepEqual(texts(nodePort, { at: 'node-port' }), ['172.16.0.11 30080/TCP']);
    assert.deepEqual(texts(nodePort, { at: 'node-port', nodeIPs: [] }), [' 30080/TCP']);
    assert.equal(texts({}, { at: '192.0.2.1' }), 'no such port');
  });

  it('keeps a number that is not declared, and names the ports for another name', () => {
    const to = { address: '10.96.0.1', port: 81, protocol: 'TCP' };
    assert.deepEqual(goals({ port: '81' }), { is: 'undeclared', to });
    assert.partialDeepStrictEqual(goals({ port: 'ftp' }), { is: 'no such port' });
  });
});
