import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markdownPage } from './markdown.ts';
import { joinLines } from './story.ts';

test('commands that follow each other share a block, facts a list', () => {
  const page = markdownPage({
    chapter: { name: 'x', title: 'Title', learn: 'What.', repeats: [] },
    kernel: 'Linux 6',
    entries: [
      { kind: 'text', text: 'Why.' },
      { kind: 'command', command: { host: 'node1', typed: 'true', output: '' } },
      { kind: 'command', command: { host: undefined, typed: 'ls', output: 'a\nb' } },
      { kind: 'fact', text: 'it is so' },
      { kind: 'fact', text: 'and so' },
    ],
  });
  assert.match(
    page,
    /\n\nWhy\.\n\n```console\nnode1# true\n\$ ls\na\nb\n```\n\n- ✓ it is so\n- ✓ and so\n\n/,
  );
});

test('lines of a paragraph are joined, paragraphs are not', () => {
  assert.equal(joinLines('one\n      two\n\n      three'), 'one two\n\nthree');
});
