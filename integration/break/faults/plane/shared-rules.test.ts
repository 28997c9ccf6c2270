import assert from 'node:assert/strict';
import { it } from 'node:test';
import { withoutShared } from './shared-rules.ts';

const SHARED = `table ip mangle {
}
table ip6 filter {
\tchain INPUT {
\t\ttype filter hook input priority filter; policy accept;
\t\tcounter jump KUBE-FIREWALL
\t}

\tchain FORWARD {
\t\ttype filter hook forward priority filter; policy accept;
\t}

\tchain KUBE-FIREWALL {
\t\tip saddr != 127.0.0.0/8 ip daddr 127.0.0.0/8 ct status dnat counter drop
\t}
}
`;

it('leaves out what a cleanup leaves to the kubelet and to iptables', () => {
  assert.equal(withoutShared(SHARED), '');
});

it('keeps every chain and rule that a cleanup should have removed', () => {
  const chain = '\tchain KUBE-SERVICES {\n\t}\n}\n';
  assert.match(withoutShared(SHARED.replace(/\}\n$/, chain)), /chain KUBE-SERVICES/);
  const jump = 'counter jump KUBE-FIREWALL\n\t\tcounter jump KUBE-FORWARD\n';
  const withJump = SHARED.replace('counter jump KUBE-FIREWALL\n', jump);
  assert.match(withoutShared(withJump), /chain INPUT \{[^}]*KUBE-FORWARD/);
  const dropping = SHARED.replace('policy accept', 'policy drop');
  assert.match(withoutShared(dropping), /policy drop/);
});

it('keeps tables of others, also empty ones', () => {
  const others = 'table ip fairlead {\n}\ntable inet nat {\n}\n';
  assert.equal(withoutShared(others + SHARED), others);
});
