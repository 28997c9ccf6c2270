import type { LockProblem } from './npm-lock.ts';

/** A go.mod and the go.sum beside it, if there is one. */
export interface GoModule {
  readonly path: string;
  readonly mod: string;
  readonly sum: string | undefined;
}

const REQUIREMENT = /^(?:require\s+)?([\w./~-]+\.[\w./~-]+)\s+(v\S+)$/;
const REPLACEMENT = /^(?:replace\s+)?(\S+)(?:\s+v\S+)?\s+=>\s+(\S+)(?:\s+(v\S+))?$/;

/** Whether go.sum has a hash for everything that go.mod names. */
export function goModuleProblems({ path, mod, sum = '' }: GoModule): LockProblem[] {
  const known = new Set(sum.split('\n').map((line) => line.split(' ').slice(0, 2).join(' ')));
  return requirements(mod)
    .filter(({ name, version }) => !known.has(`${name} ${version}/go.mod`))
    .map(({ name, version }) => ({
      entry: path,
      problem: `go.sum has no hash of ${name} ${version}`,
      remedy: 'run go mod tidy in its folder',
    }));
}

/** With replacements in place of what they replace; a folder of this repository needs no hash. */
function requirements(mod: string): Requirement[] {
  const lines = mod.split('\n').map((line) => line.replace(/\/\/.*/, '').trim());
  const replacements = new Map<string, Requirement | undefined>();
  for (const line of lines) {
    const [, name, by = '', version] = REPLACEMENT.exec(line) ?? [];
    if (name !== undefined)
      replacements.set(name, version === undefined ? undefined : { name: by, version });
  }
  return lines.flatMap((line) => {
    const [, name, version] = REQUIREMENT.exec(line) ?? [];
    if (name === undefined || version === undefined) return [];
    const required = replacements.has(name) ? replacements.get(name) : { name, version };
    return required === undefined ? [] : [required];
  });
}

interface Requirement {
  readonly name: string;
  readonly version: string;
}
