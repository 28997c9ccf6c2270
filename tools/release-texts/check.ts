/** A text that sends its reader to the wrong program, or to the wrong version of it. */
export interface TextProblem {
  /** `file:line`. */
  readonly at: string;
  readonly problem: string;
  readonly remedy: string;
}

export interface NamedText {
  readonly path: string;
  readonly text: string;
}

/** Commands that ask a registry for a package by its name alone. A path, such as ./fairlead-1.2.3.tgz, is none. */
const FROM_REGISTRY = new RegExp(
  [
    String.raw`\b(?:npx|bunx|pnpx|(?:npm|pnpm|yarn|bun)\s+(?:install|i|add|exec|x|dlx))`,
    String.raw`(?:\s+(?:-\S*|[\w@/.^~-]+))*?`,
    String.raw`\s+fairlead(?:@[\w.^~-]+)?(?=[\s\`'"),;:]|$)`,
  ].join(''),
  'm',
);
/** Files and tags that carry the version: the image, the package, the plugin. */
const VERSIONED = /(?:\bfairlead(?::|-v?)|\bnewTag:\s*)(\d+\.\d+\.\d+)/g;
/** A list of versions. */
const HISTORY = 'CHANGELOG.md';

/** Nobody of this project owns the name on a registry: what is there is another person's program. */
export function registryProblems(texts: readonly NamedText[]): TextProblem[] {
  return eachLine(texts, ({ line, at }) => {
    const found = FROM_REGISTRY.exec(line)?.[0];
    if (found === undefined) return [];
    const problem = `'${found}' installs whatever a registry has under this name`;
    return [{ at, problem, remedy: 'install the tarball that npm run release makes' }];
  });
}

/** What people copy out of a page names files that this version makes. */
export function versionProblems(texts: readonly NamedText[], version: string): TextProblem[] {
  return eachLine(
    texts.filter(({ path }) => path !== HISTORY),
    ({ line, at }) =>
      [...line.matchAll(VERSIONED)]
        .filter(([, quoted]) => quoted !== version)
        .map(([found]) => ({
          at,
          problem: `'${found}': the version in package.json is ${version}`,
          remedy: `write ${version}`,
        })),
  );
}

function eachLine(
  texts: readonly NamedText[],
  judge: (line: { line: string; at: string }) => readonly TextProblem[],
): TextProblem[] {
  return texts.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, index) => judge({ line, at: `${path}:${index + 1}` })),
  );
}
