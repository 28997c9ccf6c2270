import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readVerifierLog } from './load-program.ts';

test('gives the reason, the line and the instructions before it, without statistics', () => {
  const rejection = readVerifierLog(
    [
      '0: R1=ctx() R10=fp0',
      '; __u32 zero = 0; @ rejected.bpf.c:55',
      '0: (b7) r1 = 0                        ; R1_w=0',
      '; return *number; @ rejected.bpf.c:58',
      '6: (61) r0 = *(u32 *)(r0 +0)',
      "R0 invalid mem access 'map_value_or_null'",
      'processed 7 insns (limit 1000000) max_states_per_insn 0 total_states 0',
      '',
    ].join('\n'),
  );
  assert.equal(rejection.reason, "R0 invalid mem access 'map_value_or_null'");
  assert.equal(rejection.source, 'return *number; @ rejected.bpf.c:58');
  assert.equal(rejection.excerpt.split('\n').at(-1), rejection.reason);
  assert.match(rejection.excerpt, /^6: \(61\)/m);
});

test('keeps only the end of a long log', () => {
  const lines = Array.from({ length: 5000 }, (_, at) => `${at}: (b7) r1 = ${at}`);
  const { excerpt } = readVerifierLog([...lines, 'too complex'].join('\n'));
  assert.ok(excerpt.split('\n').length < 30);
  assert.match(excerpt, /^4999: .*\ntoo complex$/m);
});
