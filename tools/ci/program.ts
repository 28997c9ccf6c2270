/** Which process a command of the table starts. */
export interface Program {
  readonly argv: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface Surroundings {
  /** The scripts of package.json. */
  readonly scripts: Readonly<Record<string, string>>;
  readonly binFolder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Runs the Node that npm has installed, which is also the one of this process. */
const NODE = 'tools/node';

/**
 * The program of an npm script instead of npm: npm ends at SIGTERM without waiting for what it
 * started, which could not remove its labs then. Scripts are plain `tools/node FILE`.
 */
export function programOf(
  command: readonly [string, ...string[]],
  { scripts, binFolder, env }: Surroundings,
): Program {
  const found = scriptOf(command);
  if (found === undefined) return { argv: command, env };
  const [node, ...words] = (scripts[found.script] ?? '').split(' ');
  if (node !== NODE) throw new TypeError(`the script ${found.script} does not start with ${NODE}`);
  return {
    argv: [process.execPath, ...words, ...found.args],
    env: { ...env, PATH: `${binFolder}:${env['PATH'] ?? ''}` },
  };
}

function scriptOf([program, ...words]: readonly string[]):
  | { script: string; args: string[] }
  | undefined {
  if (program !== 'npm') return undefined;
  const [script = '', ...rest] = words.filter(
    (word, index) => index > 1 || !/^(run|-s)$/.test(word),
  );
  return { script, args: rest[0] === '--' ? rest.slice(1) : rest };
}
