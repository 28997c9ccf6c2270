import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../../..');
const TESTDATA = join(import.meta.dirname, '../testdata');
const INTO = 'dist/bpf-testdata';
const DEADLINE_MS = 120_000;

/** The bytes of an object of testdata, compiled now unless it has been before. */
export function compiled(name: string): Buffer {
  const source = join(TESTDATA, `${name}.bpf.c`);
  const args = [join(ROOT, 'tools/bpf.ts'), source, '--into', INTO];
  execFileSync(process.execPath, args, { cwd: ROOT, timeout: DEADLINE_MS, stdio: 'pipe' });
  return readFileSync(objectPath(name));
}

/** Where it lies once it has been compiled. */
export function objectPath(name: string): string {
  return join(ROOT, INTO, `${name}.bpf.o`);
}
