import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPackages } from './install-packages.ts';
import { type Machine, machineOf } from './machine.ts';
import type { Origin } from './origin.ts';
import { unpackDebian } from './unpack-debian.ts';

/** A kind of machine, and where what ships for it is found. */
export interface Ingredients {
  readonly machine: Machine;
  /** A node_modules with the packages for it. */
  readonly packages: string;
  /** A file system of Debian 12 for it, with iptables: `/`, or a folder with unpacked packages. */
  readonly debian: string;
}

/** For the machine that this is: its own packages and file system. */
export function ingredientsHere(root: string): Ingredients {
  return {
    machine: machineOf(process.arch),
    packages: join(root, 'node_modules'),
    debian: '/',
  };
}

/**
 * Runs the work with what ships for a machine. For another one than this the packages are fetched, by
 * npm and apt, into a folder that is removed afterwards; nothing of them is run. Debian's have the
 * versions in `pins`, or the newest where there is none.
 */
export async function withIngredients<T>(
  root: string,
  { machine, pins }: { machine: Machine; pins: readonly Origin[] },
  work: (ingredients: Ingredients) => Promise<T>,
): Promise<T> {
  const here = ingredientsHere(root);
  if (machine === here.machine) return await work(here);
  const folder = await mkdtemp(join(tmpdir(), `fairlead-${machine.architecture}-`));
  try {
    const packages = await installPackages(root, { machine, folder: join(folder, 'npm') });
    const debian = await unpackDebian(join(folder, 'debian'), { machine, pins });
    return await work({ machine, packages, debian });
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The same for several machines at once, in their order. */
export async function withAllIngredients<T>(
  root: string,
  { machines, pins }: { machines: readonly Machine[]; pins: readonly Origin[] },
  work: (ingredients: readonly Ingredients[]) => Promise<T>,
): Promise<T> {
  const [machine, ...rest] = machines;
  if (machine === undefined) return await work([]);
  return await withIngredients(root, { machine, pins }, async (first) => {
    return await withAllIngredients(root, { machines: rest, pins }, async (others) => {
      return await work([first, ...others]);
    });
  });
}
