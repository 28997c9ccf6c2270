import assert from 'node:assert/strict';
import { it } from 'node:test';
import { rejectedCounts } from './chain-counts.ts';

it('tells drops by source ranges from those of a Service without an endpoint here', () => {
  const rules = [
    '[3:180] -d 198.51.100.1/32 -p tcp -m comment --comment "t/lb:web traffic not accepted by KUBE-FW-GLRKWKV7GTAYL5YH" -m tcp --dport 80 -j DROP',
    '[4:240] -d 198.51.100.2/32 -p tcp -m comment --comment "t/lb:web traffic not accepted by KUBE-FW-GLRKWKV7GTAYL5YH" -m tcp --dport 80 -j DROP',
    '[5:300] -d 198.51.100.1/32 -p tcp -m comment --comment "t/lb:web has no local endpoints" -m tcp --dport 80 -j DROP',
  ];
  assert.deepEqual(rejectedCounts(new Map([['KUBE-PROXY-FIREWALL', rules]]), 'IPv4'), [
    { service: 't/lb:web/TCP/IPv4', rejected: 0, dropped: 5, outsideRanges: 7 },
  ]);
});
