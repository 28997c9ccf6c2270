import { cp, mkdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { run, tryRun } from '../../host/run.ts';
import type { ImageDescription } from './description.ts';

/** One /usr, as Debian has it: a program or library is found under both of its paths. */
const MERGED_FOLDERS = ['bin', 'sbin', 'lib', 'lib64'];
const EMPTY_FOLDERS = ['tmp', 'run', 'root', 'etc', 'proc', 'sys', 'dev', 'var/tmp', 'var/run'];
const USERS = 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/sh\n';

/** Fills a folder with what a container of this image will see as its root. */
export async function fillRoot(root: string, image: ImageDescription): Promise<void> {
  for (const folder of MERGED_FOLDERS) {
    await mkdir(join(root, 'usr', folder), { recursive: true });
    await symlink(join('usr', folder), join(root, folder));
  }
  for (const folder of EMPTY_FOLDERS) await mkdir(join(root, folder), { recursive: true });
  await writeFile(join(root, 'etc/passwd'), USERS);
  for (const [path, target] of Object.entries(image.links ?? {})) {
    await symlink(target, await readyPath(root, path));
  }
  for (const [path, text] of Object.entries(image.texts ?? {})) {
    await writeFile(await readyPath(root, path), text);
  }
  for (const [path, source] of Object.entries(image.files ?? {})) {
    await cp(source, await readyPath(root, path), { recursive: true, dereference: true });
  }
  for (const program of image.programs ?? []) await copyProgram(root, program);
}

/** After this the program starts in the root as it does on the machine. */
async function copyProgram(root: string, program: string): Promise<void> {
  const paths = [program, ...(await librariesOf(program))];
  for (const path of paths) {
    const target = await readyPath(root, path);
    // A link of busybox may have taken the name.
    await rm(target, { force: true });
    await cp(await realpath(path), target);
  }
}

/** Paths of the libraries that the loader would load; none for a static program. */
async function librariesOf(program: string): Promise<string[]> {
  const { stdout } = await tryRun(['ldd', program]);
  return [...stdout.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map((match) => match[1] ?? '');
}

async function readyPath(root: string, path: string): Promise<string> {
  const full = join(root, path);
  await mkdir(dirname(full), { recursive: true });
  return full;
}

/** Links that make one static busybox every small tool of a system. */
export async function busyboxLinks(busybox: string): Promise<Record<string, string>> {
  const applets = (await run([busybox, '--list'])).split('\n').filter(Boolean);
  const links = applets
    .filter((name) => name !== 'busybox')
    .map((name) => [`/bin/${name}`, 'busybox']);
  return Object.fromEntries(links) as Record<string, string>;
}
