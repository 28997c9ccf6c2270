import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { BuiltObject } from '../bpf/objects.ts';
import { ImageError } from './image-error.ts';
import type { Machine } from './machine.ts';
import { EVERY_ARCHITECTURE, hashOfFiles, npmOrigin, type Origin } from './origin.ts';

/** The bundler does not ship, and everything that does goes through its hands. */
const BUNDLER = 'esbuild';

/** npm packages with programs for one machine. */
export function machinePackages(machine: Machine): Pick<Origin, 'name' | 'architecture'>[] {
  const { nodePackage, koffiPackage, bundlerPackage, architecture } = machine;
  return [nodePackage, koffiPackage, bundlerPackage].map((name) => ({ name, architecture }));
}

/** npm says nothing of an optional package that it left out. */
export function assertInstalled(root: string, machine: Machine): void {
  for (const { name } of machinePackages(machine)) {
    if (existsSync(join(root, 'node_modules', name, 'package.json'))) continue;
    throw new ImageError(
      'IMAGE_PACKAGE_MISSING',
      `npm has not installed ${name}: the registry does not have it, or not with the hash in package-lock.json`,
      'see why: npm ci --loglevel verbose',
    );
  }
}

/** Origins of the packages in the bundle, of koffi, Node and the bundler. */
export async function npmOrigins(
  root: string,
  { machine, bundled }: { machine: Machine; bundled: readonly string[] },
): Promise<Origin[]> {
  const shared = [...bundled, 'koffi', BUNDLER].map((name) => ({
    name,
    architecture: EVERY_ARCHITECTURE,
  }));
  return await Promise.all(
    [...shared, ...machinePackages(machine)].map((each) =>
      npmOrigin(join(root, 'node_modules'), each),
    ),
  );
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
