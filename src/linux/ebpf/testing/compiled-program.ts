import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../../netlink/testing/own-namespace.ts';
import type { BpfObject } from '../bpf-object.ts';
import { parseObject } from '../parse-object.ts';

const ROOT = join(import.meta.dirname, '../../../..');

/** Compiles it if it is missing or stale. */
export function compiledProgram(name: 'sock' | 'tc'): BpfObject {
  run([process.execPath, join(ROOT, 'tools/bpf.ts'), join(ROOT, `bpf/${name}.bpf.c`)]);
  return parseObject(readFileSync(join(ROOT, `dist/bpf/${name}.bpf.o`)));
}
