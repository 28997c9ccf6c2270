import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import type { Import, ReadableImport } from './imports.ts';
import { isSamePlace, type Place, placeOf } from './places.ts';
import { type Layer, RESTRICTED_MODULES, type RestrictedModule, TEST_IMPORTS } from './table.ts';

/** What is wrong with one import, and how to fix it. */
export interface Verdict {
  readonly problem: string;
  readonly remedy: string;
}

export interface Question {
  readonly file: string;
  readonly place: Place;
  readonly import: Import;
  readonly layers: readonly Layer[];
}

/** Undefined if the table allows the import. */
export function judge(question: Question): Verdict | undefined {
  const { import: read, file, place, layers } = question;
  if (read.kind === 'unreadable') {
    return {
      problem: 'the module it loads is only known when it runs',
      remedy: 'import a plain string; to choose among modules, list each in an import of its own',
    };
  }
  const { specifier } = read;
  if (specifier.startsWith('./') || specifier.startsWith('../')) {
    return judgeNeighbour({ file, place, import: read, layers });
  }
  if (/^[/#.]|^(?!node:)[a-z]+:/.test(specifier)) {
    return {
      problem: 'it is neither a relative path, nor a package, nor a module of Node',
      remedy: "write the relative path of the file, with its suffix: './name.ts'",
    };
  }
  if (TEST_IMPORTS.includes(specifier) && file.endsWith('.test.ts')) return undefined;
  return isBuiltin(specifier)
    ? judgeBuiltin(`node:${specifier.replace(/^node:/, '')}`, place.layer)
    : judgePackage(packageName(specifier), place.layer);
}

interface NeighbourQuestion extends Question {
  readonly import: ReadableImport;
}

function judgeNeighbour(question: NeighbourQuestion): Verdict | undefined {
  const { file, place, import: read, layers } = question;
  const target = posix.join(posix.dirname(file), read.specifier);
  const there = placeOf(target, layers);
  if (there === undefined) {
    return {
      problem: `${target} is in no layer`,
      remedy: 'move the file into a layer, or add a row for its folder to tools/layers/table.ts',
    };
  }
  const { layer } = place;
  if (isSamePlace(place, there) || layer.uses.includes(there.layer.name)) return undefined;
  if (read.kind === 'lazy' && layer.loads?.includes(there.layer.name)) return undefined;
  if (layer.typesFrom?.includes(there.layer.name)) {
    if (read.kind === 'type') return undefined;
    return {
      problem: `${layer.name} may know the types of ${there.layer.name}, and nothing that runs`,
      remedy: 'write `import type`, or move the function to a layer that both may use',
    };
  }
  if (layer === there.layer) {
    return {
      problem: `each folder of the row "${layer.name}" is closed to the others`,
      remedy: `move what they share to a layer they may use: ${listed(layer.uses)}`,
    };
  }
  return {
    problem: `${layer.name} may not use ${there.layer.name}`,
    remedy: `pass it in from a layer above, or move it to one it may use: ${listed(layer.uses)}`,
  };
}

function judgeBuiltin(name: string, layer: Layer): Verdict | undefined {
  if (isRestricted(name)) {
    if (layer.restricted?.includes(name)) return undefined;
    return {
      problem: `${name} ${RESTRICTED_MODULES[name]}, and ${layer.name} may not`,
      remedy: 'call a function of a layer whose row names it (in src that is src/linux)',
    };
  }
  if (layer.builtins === 'ordinary' || layer.builtins.includes(name)) return undefined;
  return {
    problem: `${layer.name} may import these modules of Node: ${listed(layer.builtins)}`,
    remedy: 'pass what it provides as an argument',
  };
}

function judgePackage(name: string, layer: Layer): Verdict | undefined {
  if (layer.packages.includes(name)) return undefined;
  return {
    problem: `${layer.name} may import these packages: ${listed(layer.packages)}`,
    remedy: 'use it in a layer whose row names it; a new package needs docs/decisions/0004 first',
  };
}

function isRestricted(name: string): name is RestrictedModule {
  return Object.hasOwn(RESTRICTED_MODULES, name);
}

function packageName(specifier: string): string {
  const parts = specifier.split('/');
  return parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
}

function listed(names: readonly string[]): string {
  return names.length === 0 ? 'none' : names.join(', ');
}
