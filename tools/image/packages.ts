import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { BuiltObject } from '../bpf/objects.ts';
import { ImageError } from './image-error.ts';
import { type Machine, machineOf } from './machine.ts';
import { EVERY_ARCHITECTURE, hashOfFiles, npmOrigin, type Origin } from './origin.ts';

/** The bundler does not ship, and everything that does goes through its hands. */
const BUNDLER = 'esbuild';

/** npm packages with programs for one machine, of which the bundler runs where the image is made. */
export function machinePackages(machine: Machine): Pick<Origin, 'name' | 'architecture'>[] {
  return [...shippedPackages(machine), bundlerPackage(machine)];
}

/** npm says nothing of an optional package that it left out. */
export function assertInstalled(packages: string, machine: Machine): void {
  for (const { name } of shippedPackages(machine)) {
    if (existsSync(join(packages, name, 'package.json'))) continue;
    throw new ImageError(
      'IMAGE_PACKAGE_MISSING',
      `npm has not installed ${name}: the registry does not have it, or not with the hash in package-lock.json`,
      'see why: npm ci --loglevel verbose',
    );
  }
}

/**
 * Origins of the packages in the bundle, of koffi, Node and the bundler. `packages` is the
 * node_modules with those for the machine; the others are those of the checkout.
 */
export async function npmOrigins(
  root: string,
  {
    machine,
    packages,
    bundled,
  }: { machine: Machine; packages: string; bundled: readonly string[] },
): Promise<Origin[]> {
  assertInstalled(packages, machine);
  const here = join(root, 'node_modules');
  const shared = [...bundled, 'koffi', BUNDLER].map((name) => ({
    name,
    architecture: EVERY_ARCHITECTURE,
  }));
  return await Promise.all([
    ...[...shared, bundlerPackage(machineOf(process.arch))].map((each) => npmOrigin(here, each)),
    ...shippedPackages(machine).map((each) => npmOrigin(packages, each)),
  ]);
}

function shippedPackages(machine: Machine): Pick<Origin, 'name' | 'architecture'>[] {
  const { nodePackage, koffiPackage, architecture } = machine;
  return [nodePackage, koffiPackage].map((name) => ({ name, architecture }));
}

function bundlerPackage(machine: Machine): Pick<Origin, 'name' | 'architecture'> {
  return { name: machine.bundlerPackage, architecture: machine.architecture };
}

/** Same sources and same compiler, same bytes: a pin that changes alone is another compiler. */
export function objectOrigin({ name, bytes, compiler }: BuiltObject): Origin {
  return {
    kind: 'bpf',
    name,
    version: compiler,
    architecture: EVERY_ARCHITECTURE,
    sha256: hashOfFiles([{ path: name, bytes }]),
  };
}
