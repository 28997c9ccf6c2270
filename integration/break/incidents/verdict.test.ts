import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Incident } from './incident.ts';
import type { Observed } from './result.ts';
import { commandsToCause, faultsIn } from './verdict.ts';

const INCIDENT = {
  client: { from: 'cart', to: '10.96.50.1:80' },
  gets: ['timed out'],
  explain: {
    typed: 'explain shop/web',
    code: 'DROPPED_BY_RULE',
    exit: 4,
    says: /chain deny/,
    saysNot: /eth0/,
    tellsNot: /rule 5/,
    cause: /tcp dport 8080 drop/,
    next: { names: /nft list chain/, typed: 'shows' },
  },
  doctor: { code: 'FOREIGN_DROP_RULES', tells: /deny/, next: /nft list chain deny/ },
  also: [{ typed: 'status', tells: /deny/, not: /healthy/, exit: 0 }],
} as const satisfies Omit<Incident, 'name' | 'produce'>;

const FINDING = {
  code: 'FOREIGN_DROP_RULES',
  level: 'note',
  what: 'chain deny drops',
  next: 'nft list chain deny',
};

const SEEN: Observed = {
  got: ['timed out', 'timed out'],
  explain: {
    command: 'fairlead explain shop/web',
    exit: 4,
    text: 'DROPPED_BY_RULE  the packet was dropped by rule 1 of chain deny',
    code: 'DROPPED_BY_RULE',
    firstLine: 'DROPPED_BY_RULE the packet was dropped by rule 1 of chain deny',
    next: ['nft list chain inet firewall deny'],
  },
  next: { command: 'nft list chain inet firewall deny', exit: 0, text: '  tcp dport 8080 drop' },
  doctor: { exit: 0, findings: [FINDING] },
  also: [{ command: 'fairlead status', exit: 0, text: 'a rule of chain deny drops' }],
};

function seen(explain: Partial<Observed['explain']>, more: Partial<Observed> = {}): Observed {
  return { ...SEEN, ...more, explain: { ...SEEN.explain, ...explain } };
}

describe('the verdict on an incident', () => {
  it('finds nothing wrong where every answer is as expected', () => {
    assert.deepEqual(faultsIn(INCIDENT, SEEN), []);
    assert.equal(commandsToCause(INCIDENT, SEEN), 2);
  });

  const wrong: readonly (readonly [string, Observed, RegExp])[] = [
    [
      'another code',
      seen({ code: 'ENDPOINT_SILENT' }),
      /^code ENDPOINT_SILENT, not DROPPED_BY_RULE/,
    ],
    ['no code', seen({ code: undefined }), /^code none/],
    ['another exit code', seen({ exit: 3 }), /^exit 3, not 4$/],
    ['a first line without the phrase', seen({ firstLine: 'dropped' }), /first line lacks/],
    [
      'a first line with what it must not say',
      seen({ firstLine: 'chain deny, eth0' }),
      /says \/eth0/,
    ],
    [
      'no cause in any output',
      seen({}, { next: { command: '', exit: 0, text: '' } }),
      /no command/,
    ],
    ['no next', seen({ next: [] }), /^no next names/],
    ['a next that is no command', { ...SEEN, next: undefined } as never, /no command that can be/],
    ['a doctor without the code', seen({}, { doctor: { exit: 0, findings: [] } }), /does not find/],
    ['a doctor that was not asked', { ...SEEN, doctor: undefined } as never, /does not find/],
    [
      'a doctor with another next',
      seen({}, { doctor: { exit: 0, findings: [{ ...FINDING, next: 'nft list chain guard' }] } }),
      /next of FOREIGN_DROP_RULES of doctor lacks/,
    ],
    ['a line with what none may say', seen({ text: 'chain deny #3: drop by rule 5' }), /^it says/],
    [
      'a doctor that tells something else',
      seen(
        {},
        { doctor: { exit: 0, findings: [{ code: 'FOREIGN_DROP_RULES', level: '', what: '' }] } },
      ),
      /of doctor lacks/,
    ],
    ['another command without the phrase', alsoPrints('nothing'), /`status` lacks/],
    ['another command with what it must not say', alsoPrints('deny, healthy'), /`status` says/],
    ['another command with another exit code', alsoPrints('deny', 1), /`status`: exit 1/],
    ['another command that was not typed', seen({}, { also: [] }), /was not typed/],
  ];
  for (const [title, observed, fault] of wrong) {
    it(`finds ${title}`, () => {
      assert.ok(
        faultsIn(INCIDENT, observed).some((text) => fault.test(text)),
        faultsIn(INCIDENT, observed).join('\n'),
      );
    });
  }
});

function alsoPrints(text: string, exit = 0): Observed {
  return { ...SEEN, also: [{ command: 'fairlead status', exit, text }] };
}

describe('the verdict against what the client got, whatever was expected', () => {
  function contradiction(code: string, exit: number, got: Observed['got']): string[] {
    const explain = { ...INCIDENT.explain, code, exit };
    return faultsIn({ ...INCIDENT, explain }, seen({ code, exit }, { got }));
  }

  it('finds REACHES where only some connections were answered', () => {
    assert.match(
      contradiction('REACHES', 0, ['answered', 'timed out']).join(),
      /says that it reaches/,
    );
    assert.deepEqual(contradiction('REACHES', 0, ['answered']), []);
  });

  it('finds a drop where every connection was answered', () => {
    assert.match(contradiction('DROPPED_BY_RULE', 4, ['answered']).join(), /does not reach/);
  });

  it('tells refused from silent', () => {
    assert.match(contradiction('ENDPOINT_REFUSES', 4, ['timed out']).join(), /says refused/);
    assert.match(contradiction('NO_ANSWER', 3, ['refused']).join(), /says silence/);
    assert.deepEqual(contradiction('ENDPOINT_SILENT', 4, ['accepted, then silent']), []);
  });

  it('takes a prediction for no contradiction', () => {
    assert.deepEqual(contradiction('WOULD_REACH', 5, ['timed out']), []);
  });
});

it('counts one command where explain names the cause itself, and doctor as the second', () => {
  const told = seen({ text: 'rule 1: tcp dport 8080\n   drop' });
  assert.equal(commandsToCause(INCIDENT, told), 1);
  const inOne = { ...INCIDENT, explain: { ...INCIDENT.explain, most: 1 as const } };
  assert.deepEqual(faultsIn(inOne, told), []);
  assert.match(faultsIn(inOne, SEEN).join(), /explain itself does not name the cause/);
  const { next, ...withoutNext } = SEEN;
  assert.notEqual(next, undefined);
  assert.equal(commandsToCause(INCIDENT, withoutNext), undefined);
  const findings = [{ code: 'X', level: 'note', what: 'tcp dport 8080 drop' }];
  assert.equal(commandsToCause(INCIDENT, { ...withoutNext, doctor: { exit: 0, findings } }), 2);
});

it('finds a next that was to repair and did not', () => {
  const { explain } = INCIDENT;
  const repairs = {
    ...INCIDENT,
    explain: { ...explain, next: { names: /nft/, typed: 'repairs' } },
  };
  const incident = repairs as Parameters<typeof faultsIn>[0];
  assert.match(faultsIn(incident, SEEN).join(), /does not repair it: nothing/);
  assert.match(faultsIn(incident, { ...SEEN, gotAfter: ['refused'] }).join(), /does not repair it/);
  assert.deepEqual(faultsIn(incident, { ...SEEN, gotAfter: ['answered'] }), []);
});
