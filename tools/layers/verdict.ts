import { isBuiltin } from 'node:module';
import { posix } from 'node:path';
import type { Import, ReadableImport } from './imports.ts';
import { isSamePlace, type Place, placeOf } from './places.ts';
import { RESTRICTED_MODULES, type RestrictedModule, type Room, TEST_IMPORTS } from './table.ts';

/** What is wrong with one import, and how to put it right. */
export interface Verdict {
  readonly problem: string;
  readonly remedy: string;
}

export interface Question {
  readonly file: string;
  readonly place: Place;
  readonly import: Import;
  readonly rooms: readonly Room[];
}

/** Whether the table allows an import: nothing when it does. */
export function judge(question: Question): Verdict | undefined {
  const { import: read, file, place, rooms } = question;
  if (read.kind === 'unreadable') {
    return {
      problem: 'what it loads is only known when it runs',
      remedy: 'import a plain string; to choose among modules, list each in an import of its own',
    };
  }
  const { specifier } = read;
  if (specifier.startsWith('./') || specifier.startsWith('../')) {
    return judgeNeighbour({ file, place, import: read, rooms });
  }
  if (/^[/#.]|^(?!node:)[a-z]+:/.test(specifier)) {
    return {
      problem: 'it is neither a relative path, nor a package, nor a module of Node',
      remedy: "write the relative path of the file, with its suffix: './name.ts'",
    };
  }
  if (TEST_IMPORTS.includes(specifier) && file.endsWith('.test.ts')) return undefined;
  return isBuiltin(specifier)
    ? judgeBuiltin(`node:${specifier.replace(/^node:/, '')}`, place.room)
    : judgePackage(packageName(specifier), place.room);
}

interface NeighbourQuestion extends Question {
  readonly import: ReadableImport;
}

function judgeNeighbour(question: NeighbourQuestion): Verdict | undefined {
  const { file, place, import: read, rooms } = question;
  const target = posix.join(posix.dirname(file), read.specifier);
  const there = placeOf(target, rooms);
  if (there === undefined) {
    return {
      problem: `${target} is in no room`,
      remedy: 'move what is needed into a room, or give its folder a row in tools/layers/table.ts',
    };
  }
  const { room } = place;
  if (isSamePlace(place, there) || room.uses.includes(there.room.name)) return undefined;
  if (room.typesFrom?.includes(there.room.name)) {
    if (read.kind === 'type') return undefined;
    return {
      problem: `${room.name} may know the types of ${there.room.name}, and nothing that runs`,
      remedy: 'write `import type`, or move the function to where both may use it',
    };
  }
  if (room === there.room) {
    return {
      problem: `each folder of the row "${room.name}" is closed to the others`,
      remedy: `move what they share to a room they may use: ${listed(room.uses)}`,
    };
  }
  return {
    problem: `${room.name} may not use ${there.room.name}`,
    remedy: `pass it in from a room above, or move it to one it may use: ${listed(room.uses)}`,
  };
}

function judgeBuiltin(name: string, room: Room): Verdict | undefined {
  if (isRestricted(name)) {
    if (room.restricted?.includes(name)) return undefined;
    return {
      problem: `${name} ${RESTRICTED_MODULES[name]}, and ${room.name} may not`,
      remedy: 'call a function of a room whose row names it (in src that is src/linux)',
    };
  }
  if (room.builtins === 'ordinary' || room.builtins.includes(name)) return undefined;
  return {
    problem: `${room.name} may import these modules of Node: ${listed(room.builtins)}`,
    remedy: 'take what it provides as an argument',
  };
}

function judgePackage(name: string, room: Room): Verdict | undefined {
  if (room.packages.includes(name)) return undefined;
  return {
    problem: `${room.name} may import these packages: ${listed(room.packages)}`,
    remedy: 'use it in a room whose row names it; a new package needs docs/decisions/0004 first',
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
