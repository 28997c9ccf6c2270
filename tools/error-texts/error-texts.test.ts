import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readErrorTexts } from './read.ts';
import { shippedSources } from './sources.ts';
import { formatErrorText } from './view.ts';
import { unclearTexts } from './words.ts';

const ROOT = join(import.meta.dirname, '../..');

function read(source: string): string[] {
  const texts = readErrorTexts(new Map([['src/a.ts', source]]));
  return texts.map(({ code, text, next }) => [code, text, ...next].join(' / '));
}

describe('readErrorTexts', () => {
  const cases: Readonly<Record<string, readonly [source: string, expected: readonly string[]]>> = {
    'reads code, message and next of a constructor': [
      "throw new ClusterError('CLUSTER_X', `cannot read ${about.file}: ${code}`, { next: 'check it now' });",
      ['CLUSTER_X / cannot read <file>: <code> / check it now'],
    ],
    'reads the code from the options': [
      "throw new PlaneError('no table there', { code: 'NFT_X', next: 'wait for it' });",
      ['NFT_X / no table there / wait for it'],
    ],
    'follows constants': [
      "const message = `no ${kind} ` + 'here'; const next = 'add ' + 'one'; throw new AError('A_B', message, { next });",
      ['A_B / no <kind> here / add one'],
    ],
    'lists every alternative': [
      "throw new AError('A_B', isOld ? 'it is old' : 'it is new', { next: nextOf(code) });\nfunction nextOf(code) { if (code === 'X') return 'do this'; return 'do that'; }",
      ['A_B / it is new / do this / do that', 'A_B / it is old / do this / do that'],
    ],
    'takes next from a table of codes': [
      "const NEXT = { A_B: 'do this', A_C: 'do that' }; throw new AError('A_C', 'it is broken');",
      ['A_C / it is broken / do that'],
    ],
    'fills in the texts given to a function that makes errors': [
      "function failed(what: string) {\n return new AError('A_B', `cannot ${what}: ${code}`);\n}\nthrow failed('open the map');",
      ['A_B / cannot open the map: <code>'],
    ],
    'follows functions that pass the text on': [
      "function failed(what: string) {\n return new AError('A_B', `cannot ${what}`);\n}\nfunction checked(doing: string) {\n throw failed(doing);\n}\nchecked('pin it');",
      ['A_B / cannot pin it'],
    ],
    'ignores errors of JavaScript, comments and strings': [
      "throw new TypeError('a b'); // new AError('A_B', 'a b')\nconst text = \"new AError('A_B', 'a b')\";",
      [],
    ],
  };
  for (const [name, [source, expected]] of Object.entries(cases)) {
    it(name, () => assert.deepEqual(read(source), expected));
  }
});

it('formats an error within 80 columns', () => {
  const long = 'word '.repeat(40).trim();
  const text = formatErrorText({ code: 'A_B', text: long, next: [long], file: '', line: 1 });
  assert.deepEqual(
    text.split('\n').filter((line) => line.length > 80),
    [],
  );
  assert.ok(text.startsWith('A_B\n    word'));
});

describe('unclearTexts', () => {
  it('finds a listed word in a string, a template and a concatenation', () => {
    const source =
      "a('it is\\n mended');\nb(`${x} was taken back`);\nc('nothing is ' + 'looked at');";
    const found = unclearTexts(source).map(({ line, word }) => `${line} ${word}`);
    assert.deepEqual(found, ['1 mended', '2 taken back', '3 looked at']);
    assert.equal(unclearTexts("a('Somebody deleted it');").length, 1);
  });

  it('ignores comments, single words and names', () => {
    assert.deepEqual(unclearTexts("// nobody looked at it\nconst nobody = 'nobody';"), []);
  });
});

it('finds the errors of this project, and none that has to be decoded', async () => {
  const sources = await shippedSources(ROOT);
  const texts = readErrorTexts(sources);
  assert.ok(texts.length > 100, `${texts.length} texts`);
  for (const code of ['BPF_PROGRAM_REFUSED', 'CLUSTER_TLS', 'IPTABLES_LOCKED', 'STATUS_TIMEOUT']) {
    assert.ok(
      texts.some((each) => each.code === code && each.next.length > 0),
      code,
    );
  }
  assert.deepEqual([...sources.values()].flatMap(unclearTexts), []);
});
