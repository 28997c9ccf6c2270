/** Words that a shell leaves as they are. */
const PLAIN = /^[\w@%+=:,./-]+$/;

/** A command for people to paste: names and labels of manifests are untrusted text. */
export function kubectlLine(namespace: string, ...words: readonly string[]): string {
  return ['kubectl', '-n', namespace, ...words].map(shellWord).join(' ');
}

function shellWord(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
