import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readContents } from './contents.ts';
import { ingredientsHere, withIngredients } from './ingredients.ts';
import { installPackages } from './install-packages.ts';
import { MACHINES, type Machine } from './machine.ts';
import { EVERY_ARCHITECTURE, npmOrigin, type Origin } from './origin.ts';
import { machinePackages } from './packages.ts';

/**
 * Pins for every machine that there is an image for. Those of npm are read from new installs: npm has
 * just compared them with package-lock.json, unlike node_modules. Those of Debian are what is
 * installed here, and for other machines what apt offers.
 */
export async function makePins(root: string, origins: readonly Origin[]): Promise<Origin[]> {
  const shared = origins
    .filter(({ kind, architecture }) => kind === 'npm' && architecture === EVERY_ARCHITECTURE)
    .map(({ name, architecture }) => ({ name, architecture }));
  const pins: Origin[] = origins.filter(({ kind }) => kind !== 'npm');
  for (const machine of MACHINES) {
    pins.push(...(await installedOrigins(root, machine, [...shared, ...machinePackages(machine)])));
    if (machine === ingredientsHere(root).machine) continue;
    const there = await withIngredients(root, { machine, pins: [] }, async (ingredients) => {
      return (await readContents(root, ingredients)).origins;
    });
    pins.push(...there.filter(({ kind }) => kind === 'debian'));
  }
  return pins;
}

async function installedOrigins(
  root: string,
  machine: Machine,
  packages: readonly Pick<Origin, 'name' | 'architecture'>[],
): Promise<Origin[]> {
  const folder = await mkdtemp(join(tmpdir(), 'fairlead-pins-'));
  try {
    const installed = await installPackages(root, { machine, folder });
    return await Promise.all(packages.map((each) => npmOrigin(installed, each)));
  } finally {
    await rm(folder, { recursive: true });
  }
}
