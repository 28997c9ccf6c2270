import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { commandIn, readAnswer } from './typed.ts';

const PAGE = `from the agent, node node1
DROPPED_BY_RULE  the packet of pod shop/cart-6f4d to shop/web:http
                 (10.96.0.10:80) was dropped

  from           source class pod: 10.244.1.10 is in 10.244.0.0/16, the range of
                 pods
  next           nft -a list chain
                 inet firewall guard
  kernel         has the row as desired
  next           fairlead history`;

describe('what explain prints', () => {
  it('is read as code, first line and the lines next, however they are broken', () => {
    assert.deepEqual(readAnswer(PAGE), {
      code: 'DROPPED_BY_RULE',
      firstLine:
        'DROPPED_BY_RULE the packet of pod shop/cart-6f4d to shop/web:http (10.96.0.10:80) was dropped',
      next: ['nft -a list chain inet firewall guard', 'fairlead history'],
    });
  });

  it('has no code where it is an error', () => {
    assert.deepEqual(readAnswer('shop/headless is headless\n\nask its pods (NOT_PROXIED)'), {
      code: undefined,
      firstLine: 'shop/headless is headless',
      next: ['ask its pods (NOT_PROXIED)'],
    });
  });
});

describe('the command in a line next', () => {
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['kubectl -n shop get pods -o wide', 'kubectl -n shop get pods -o wide'],
    [
      'nft list chain ip docker forward shows it; set its policy',
      'nft list chain ip docker forward',
    ],
    ['list programs with `bpftool net`, policies of IPsec', 'bpftool net'],
    ['`fairlead services` lists every address', 'fairlead services'],
    [
      'on node2: fairlead explain shop/web --from 10.1.0.1 --watch 30s',
      'fairlead explain shop/web --from 10.1.0.1 --watch 30s',
    ],
    [
      'sysctl -w net.ipv4.ip_forward=1, and in /etc/sysctl.d to keep it',
      'sysctl -w net.ipv4.ip_forward=1',
    ],
    ['connect to one of its ports, or declare this one', undefined],
    ['set net.ipv4.ip_forward to 1', undefined],
  ];
  for (const [line, command] of cases) {
    it(`is ${command ?? 'none'} in: ${line}`, () => assert.equal(commandIn(line), command));
  }
});
