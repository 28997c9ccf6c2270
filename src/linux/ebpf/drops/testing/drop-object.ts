import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BpfObject } from '../../bpf-object.ts';
import { parseObject } from '../../parse-object.ts';

const ROOT = join(import.meta.dirname, '../../../../..');

/** As `npm run bpf` has compiled it. */
export function dropObject(): BpfObject {
  return parseObject(readFileSync(join(ROOT, 'dist/bpf/drop.bpf.o')));
}
