import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { enterOwnNetwork } from '../netlink/testing/own-namespace.ts';
import { Attr } from './attr.ts';
import { Command } from './bpf-constants.ts';
import { tcxAttachType } from './bpf-link.ts';
import { listIds, openLinkById } from './enumerate.ts';
import { loadObject } from './load-object.ts';
import { parseObject } from './parse-object.ts';
import { bpfOnThread, closeDescriptor } from './system-call.ts';
import { compiled } from './testing/compile-object.ts';

const LOOPBACK = 1;
const TIMES = 10;

enterOwnNetwork();

test('skips a link that is still being created', async () => {
  const object = parseObject(compiled('conntrack'));
  let looks = 0;
  for (let time = 0; time < TIMES; time++) {
    const loaded = loadObject(object, { programs: [{ name: 'learn' }] });
    const program = loaded.programs.get('learn');
    assert.ok(program);
    const attr = new Attr().u32(0, program.fd).u32(4, LOOPBACK).u32(8, tcxAttachType('ingress'));
    let fd: number | undefined;
    const made = bpfOnThread(Command.linkCreate, attr).then((result) => {
      fd = result;
    });
    while (fd === undefined) {
      for (const id of listIds('link')) openLinkById(id)?.close();
      looks += 1;
      await nextTurn();
    }
    await made;
    assert.ok(fd >= 0, `attached: ${fd}`);
    closeDescriptor(fd);
    loaded.close();
  }
  assert.ok(looks > TIMES, 'nobody looked while a link was being made');
});
