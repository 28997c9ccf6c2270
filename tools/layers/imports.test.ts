import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readImports } from './imports.ts';

/** One word an import, which makes the expectations below easy to read. */
function read(source: string): readonly string[] {
  return readImports(source).map((found) =>
    found.kind === 'unreadable'
      ? `${found.line} unreadable ${found.written}`
      : `${found.line} ${found.kind} ${found.specifier}`,
  );
}

describe('what is an import', () => {
  const cases: Record<string, readonly [source: string, expected: readonly string[]]> = {
    'default, named, namespace': [
      `import a from 'a';\nimport { b } from "b";\nimport * as c from './c.ts'`,
      ['1 value a', '2 value b', '3 value ./c.ts'],
    ],
    'default with named': [`import a, { b, c as d } from 'x';`, ['1 value x']],
    'over many lines': [
      `// first\nimport {\n  a,\n  type B, // why\n  c as d,\n} from './x.ts';\nimport e from 'e';`,
      ['2 value ./x.ts', '7 value e'],
    ],
    'names that are strings': [`import { 'a-b' as c } from 'x'`, ['1 value x']],
    'a name that is from': [
      `import { from } from 'a'; import from from 'b'`,
      ['1 value a', '1 value b'],
    ],
    'for its side effect': [`import './polyfill.ts';`, ['1 value ./polyfill.ts']],
    'of types': [
      `import type { A } from 'a';\nimport type B from 'b';\nimport type * as C from 'c'`,
      ['1 type a', '2 type b', '3 type c'],
    ],
    'of a default called type': [
      `import type from 'a'; import type, { b } from 'b'; import type from from 'c'`,
      ['1 value a', '1 value b', '1 type c'],
    ],
    'of types one by one, which still loads the module': [
      `import { type A, type B } from 'a'`,
      ['1 value a'],
    ],
    'with attributes': [`import a from './a.json' with { type: 'json' };`, ['1 value ./a.json']],
    'passed on': [
      `export * from 'a'; export * as b from 'b'; export { c } from 'c'; export { type D } from 'd'`,
      ['1 value a', '1 value b', '1 value c', '1 value d'],
    ],
    'passed on as types': [
      `export type { A } from 'a'; export type * from 'b'`,
      ['1 type a', '1 type b'],
    ],
    dynamic: [`const a = await import('./a.ts');`, ['1 lazy ./a.ts']],
    'dynamic with attributes': [
      `import('./a.json', { with: { type: 'json' } })`,
      ['1 lazy ./a.json'],
    ],
    'dynamic within a template': ['`${await import("a")}`', ['1 lazy a']],
    'dynamic and spread': [`({ ...import('a') })`, ['1 lazy a']],
    'as a type expression': [`type A = import('./a.ts').A;`, ['1 lazy ./a.ts']],
    deferred: [`import defer * as a from 'a'; import.defer('b');`, ['1 value a', '1 lazy b']],
    'without spaces': [`import{a}from'a';import*as b from"b"`, ['1 value a', '1 value b']],
  };
  for (const [name, [source, expected]] of Object.entries(cases)) {
    it(name, () => assert.deepEqual(read(source), expected));
  }
});

describe('what cannot be read', () => {
  const sources = [
    'await import(`./modes/${mode}.ts`)',
    'await import(`./plain.ts`)',
    "await import('./modes/' + mode)",
    'await import(path)',
    "await import(yes ? './a.ts' : './b.ts')",
    "import a = require('a')",
    String.raw`import a from '\x2e/a.ts'`,
  ];
  for (const source of sources) {
    it(source, () => assert.deepEqual(read(`\n  ${source}\n`), [`2 unreadable ${source}`]));
  }
});

describe('what is no import', () => {
  const sources = [
    "// import a from 'a'",
    "/* import a from 'a' */",
    "/**\n * import a from 'a'\n */",
    "/* never closed: import a from 'a'",
    "#!/usr/bin/env node import 'a'",
    `const text = "import a from 'a'";`,
    `const text = 'it\\'s import("a")';`,
    "const text = `import a from 'a'`;",
    "const text = `${`inner ${1} import 'a'`} import 'b'`;",
    "const text = `\\` import 'a' \\${ import 'b'`;",
    'const found = /import ["\']a["\']/.test(x);',
    'if (x) /[/] import "a"/.exec(x);',
    'return /"/.test(x) || "import(";',
    "const url = import.meta.url; import.meta.resolve('a');",
    "loader.import('a'); loader?.import('a');",
    "const table = { import: 'a', export: 'b' };",
    "export const from = 'a'; export default 'b';",
    "export { a, b }; const from = 'c';",
    "export type A = { from: 'a' }; export type { B };",
    "export interface A { from: 'a' }",
    "important('a'); reimport('b'); $import('c');",
  ];
  for (const source of sources) {
    it(source.replaceAll('\n', ' '), () => assert.deepEqual(read(source), []));
  }
});

describe('a slash that divides hides nothing', () => {
  const sources = [
    "const half = a / 2; import('a'); const third = b / 3;",
    "const half = f(a) / 2; import('a'); const third = b[0] / 3;",
    "const half = a++ / 2; import('a'); const third = b-- / 3;",
    "const half = a! / 2; import('a'); const third = 6 / 3;",
    "const half = `${a}` / 2; import('a'); const third = this / 3;",
    "const half = a.return / 2; import('a'); const third = b / 3;",
  ];
  for (const source of sources) {
    it(source, () => assert.deepEqual(read(source), ['1 lazy a']));
  }
});

it('finds each import among any mixture of what is none', () => {
  const decoy = fc.constantFrom(
    "// import 'no'",
    '/* from "no" */',
    `const s = "import 'no'";`,
    "const t = `import 'no' ${1 / 2} from 'no'`;",
    'const r = /\'|import "no"/g;',
    'if (x) { y = x / 2 / z; }',
    'for (const x of y) /`/.test(x);',
    "const o = { from: 'no' };",
  );
  const statement = fc
    .tuple(
      fc.constantFrom(
        (name: string) => `import { a } from '${name}';`,
        (name: string) => `import {\n  a,\n} from "${name}";`,
        (name: string) => `export * from '${name}';`,
        (name: string) => `import '${name}';`,
        (name: string) => `await import('${name}');`,
      ),
      fc.stringMatching(/^\.\/[a-z]{1,8}\.ts$/),
    )
    .map(([write, name]) => ({ text: write(name), name }));
  const line = fc.oneof(
    decoy.map((text) => ({ text, name: undefined })),
    statement,
  );
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const source = lines.map(({ text }) => text).join('\n');
      const expected = lines.flatMap(({ name }) => (name === undefined ? [] : [name]));
      const found = readImports(source).map((one) =>
        one.kind === 'unreadable' ? one.written : one.specifier,
      );
      assert.deepEqual(found, expected);
    }),
  );
});
