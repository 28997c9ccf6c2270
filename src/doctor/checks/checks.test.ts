import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nameProcess } from '../../linux/process-name.ts';
import type { DoctorCheck } from '../doctor-check.ts';
import type { LeftInKernel, Subject } from '../subject.ts';
import { conditions, MODE, subject, sysctlsWith } from '../testing/example-subject.ts';
import { AGENT } from './agent-answers.ts';
import { AGENT_CAPABILITIES } from './agent-capabilities.ts';
import { AGENT_CONDITIONS } from './agent-conditions.ts';
import { CONNTRACK_ROOM } from './conntrack-checks.ts';
import { IP_FORWARD } from './ip-forward.ts';
import { KERNEL_STATE } from './kernel-state.ts';
import { MODE_SYSCTLS } from './mode-sysctls.ts';
import { MODES } from './possible-modes.ts';

async function found(check: DoctorCheck, subject: Subject): Promise<string[]> {
  return (await check.run(subject)).map(({ level, code }) => `${level} ${code}`);
}

const answering = (changed: Parameters<typeof conditions>[0] = {}): Subject =>
  subject({ agent: { state: 'answers', pid: process.pid, conditions: conditions(changed) } });

describe('agent', () => {
  const cases: readonly (readonly ['dead' | 'absent', LeftInKernel, string, RegExp])[] = [
    [
      'dead',
      { objects: ['2 tables'], unread: [] },
      'problem AGENT_DEAD',
      /in the kernel: 2 tables$/,
    ],
    [
      'absent',
      { objects: ['1 table'], unread: [] },
      'problem AGENT_DEAD',
      /in the kernel: 1 table$/,
    ],
    [
      'dead',
      { objects: [], unread: [] },
      'problem AGENT_DEAD',
      /the kernel has none of its rules$/,
    ],
    ['dead', { objects: [], unread: ['ipvs: EPERM'] }, 'problem AGENT_DEAD', /read: ipvs: EPERM$/],
    [
      'absent',
      { objects: [], unread: ['ipvs: EPERM'] },
      'unasked RULES_UNREAD',
      /read: ipvs: EPERM$/,
    ],
    ['absent', { objects: [], unread: [] }, 'note AGENT_ABSENT', /^no agent runs on this machine$/],
  ];
  for (const [state, left, code, text] of cases) {
    it(`finds ${code} when it is ${state} and the kernel has ${JSON.stringify(left)}`, async () => {
      const asked = subject({ agent: { state }, leftInKernel: async () => left });
      assert.deepEqual(await found(AGENT, asked), [code]);
      assert.match((await AGENT.run(asked))[0]?.what ?? '', text);
    });
  }
});

describe('agent-conditions', () => {
  const FALSE = { isTrue: false, sinceMs: 0, why: 'planted' };
  const TRUE = { ...FALSE, isTrue: true };
  const cases: readonly (readonly [Parameters<typeof conditions>[0], string])[] = [
    [{ apiFresh: FALSE }, 'problem API_STALE'],
    [{ firstSync: FALSE }, 'problem NOT_SYNCED_YET'],
    [{ timely: { IPv4: FALSE, IPv6: TRUE } }, 'problem AGENT_BEHIND'],
    [{ errorFree: FALSE }, 'problem WRITE_FAILED'],
    [{ undisturbed: FALSE }, 'note RULES_CHANGED_BY_OTHERS'],
    [{ watching: FALSE }, 'note NOT_WATCHING'],
    [{ addressesServed: FALSE }, 'note ADDRESS_NOT_SERVED'],
    [{}, 'ok OK'],
  ];
  for (const [planted, code] of cases) {
    it(`finds ${code} where ${JSON.stringify(Object.keys(planted ?? {}))} is false`, async () => {
      assert.deepEqual(await found(AGENT_CONDITIONS, answering(planted)), [code]);
    });
  }
});

describe('a fallback', () => {
  it('is a problem with its reason, and explains the objects that are missing', async () => {
    const about = { code: 'CGROUP', message: 'no such cgroup', next: 'mount it', atMs: 0 };
    const fallback = { from: 'packet hooks', to: 'nftables', ...about };
    const agent = { state: 'answers', pid: 1, conditions: conditions(), fallback } as const;
    const [finding] = await AGENT_CONDITIONS.run(subject({ agent }));
    assert.deepEqual(finding, {
      level: 'problem',
      code: 'MODE_FALLBACK',
      what: 'packet hooks cannot be used: no such cgroup',
      why: 'nftables forwards everything instead',
      next: 'mount it',
    });
    const facts = {} as NonNullable<Subject['node']>['facts'];
    const differences = async () => [{ kind: 'missing', object: 'ebpf maps' } as const];
    const node = { facts, rows: [], differences };
    const [differing] = await KERNEL_STATE.run(subject({ agent, node }));
    assert.match(differing?.why ?? '', /MODE_FALLBACK/);
  });
});

describe('conntrack-room', () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ['95', '100', 'problem CONNTRACK_FULL'],
    ['94', '100', 'note CONNTRACK_FILLING'],
    ['80', '100', 'note CONNTRACK_FILLING'],
    ['79', '100', 'ok OK'],
    ['79', '0', 'ok OK'],
  ];
  for (const [count, max, code] of cases) {
    it(`finds ${code} with ${count} of ${max}`, async () => {
      const sysctls = sysctlsWith({
        'net/netfilter/nf_conntrack_count': count,
        'net/netfilter/nf_conntrack_max': max,
      });
      assert.deepEqual(await found(CONNTRACK_ROOM, subject({ sysctls })), [code]);
    });
  }
});

describe('kernel-state', () => {
  it('names the objects that differ', async () => {
    const facts = {} as NonNullable<Subject['node']>['facts'];
    const differences = async () => [
      { kind: 'missing', object: 'ip fairlead map services' } as const,
    ];
    const [finding] = await KERNEL_STATE.run(subject({ node: { facts, rows: [], differences } }));
    assert.equal(finding?.code, 'KERNEL_DIFFERS');
    assert.match(finding?.what ?? '', /in 1 objects: missing ip fairlead map services$/);
  });
});

describe('modes', () => {
  it('finds a problem only in what the mode in use lacks', async () => {
    const modes = [
      { ...MODE, programs: ['no-such-program-1'] },
      { ...MODE, name: 'other', programs: ['no-such-program-2'] },
      { ...MODE, name: 'able', programs: ['no-such-program-3', 'sh'] },
    ];
    assert.deepEqual(await found(MODES, subject({ modes })), [
      'problem MODE_NEEDS',
      'ok OK',
      'ok OK',
    ]);
  });
});

describe('ip-forward', () => {
  it('goes on with other interfaces where one is gone since it was listed', async () => {
    const link = { kind: 'veth', up: true, loopback: false, master: 0, mtu: 1500 };
    const gone = { ...link, index: 7, name: 'gone' };
    const here = { ...link, index: 8, name: 'here' };
    const places = { links: [gone, here], endpoints: [], podLinks: [gone], uplinks: [here] };
    const of = subject({
      sysctls: sysctlsWith({
        'net/ipv4/ip_forward': '1',
        'net/ipv4/conf/gone/forwarding': undefined,
        'net/ipv4/conf/here/forwarding': '0',
      }),
      places: async () => places,
    });
    assert.deepEqual(await found(IP_FORWARD, of), ['problem IP_FORWARD_OFF_LINK']);
  });
});

describe('mode-sysctls', () => {
  it('skips a setting that the kernel does not have', async () => {
    const setting = (name: string) => ({ name, value: '1', otherwise: 'it breaks' });
    const modes = [{ ...MODE, sysctls: [setting('net/absent'), setting('net/wrong')] }];
    const sysctls = sysctlsWith({ 'net/absent': undefined, 'net/wrong': '0' });
    assert.deepEqual(await found(MODE_SYSCTLS, subject({ modes, sysctls })), ['note MODE_SYSCTL']);
  });
});

describe('agent-capabilities', () => {
  it('names a capability that the mode needs and the agent lacks', async () => {
    nameProcess('fairlead');
    const of = { ...answering(), modes: [{ ...MODE, capabilities: ['NO_SUCH_CAPABILITY'] }] };
    const [finding] = await AGENT_CAPABILITIES.run(of);
    assert.equal(finding?.code, 'CAPABILITY_MISSING');
    assert.equal(finding?.what, 'the agent lacks CAP_NO_SUCH_CAPABILITY');
    nameProcess('another');
    assert.deepEqual(await found(AGENT_CAPABILITIES, of), ['ok OK']);
  });
});
