import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compile } from '../forwarding/compile.ts';
import { service, view } from '../forwarding/testing/example-objects.ts';
import { goalOf, parseTarget } from './target.ts';

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

describe('goalOf()', () => {
  const ports = [
    { name: 'http', protocol: 'TCP', port: 80, nodePort: 0 },
    { name: 'dns', protocol: 'UDP', port: 53, nodePort: 0 },
  ];
  const rows = (['IPv4', 'IPv6'] as const).flatMap((family) =>
    compile({ service: service({ ports }), slices: [], family, view: view() }),
  );
  const goal = (more: object, family?: 'IPv6') =>
    goalOf({ by: 'service', service: 'ns/web', ...more }, rows, family);

  it('is the cluster IP of the first port, or of the one that is named', () => {
    assert.partialDeepStrictEqual(goal({}), { to: { address: '10.96.0.1', port: 80 } });
    assert.partialDeepStrictEqual(goal({ port: 'dns' }), { to: { port: 53, protocol: 'UDP' } });
    assert.partialDeepStrictEqual(goal({ port: '53' }), { to: { port: 53, protocol: 'UDP' } });
    assert.partialDeepStrictEqual(goal({ protocol: 'UDP' }), { to: { port: 53 } });
    assert.partialDeepStrictEqual(goal({}, 'IPv6'), { to: { address: 'fd00:96::1' } });
  });

  it('keeps a number that is not declared, and names the ports for another name', () => {
    const to = { address: '10.96.0.1', port: 81, protocol: 'TCP' };
    assert.deepEqual(goal({ port: '81' }), { is: 'undeclared', to });
    assert.partialDeepStrictEqual(goal({ port: 'ftp' }), { is: 'no such port' });
  });
});
