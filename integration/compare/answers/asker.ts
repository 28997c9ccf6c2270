import { type Dialogue, startDialogue } from '../../../lab/host/dialogue.ts';

/**
 * Answers lines of arguments of `fairlead`, in JSON, each with a line of JSON. One process for all of them:
 * thousands of starts would take an hour. A text for Node, because what it loads is of another checkout,
 * which no import of this one can name.
 */
const PROGRAM = `
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const main = join(process.argv[1], 'src/main.ts');
const tell = process.stdout.write.bind(process.stdout);
process.stdout.setMaxListeners(0);
process.stderr.setMaxListeners(0);

let count = 0;
for await (const line of createInterface({ input: process.stdin })) {
  process.argv = [process.execPath, main, ...JSON.parse(line)];
  process.exitCode = undefined;
  const stdout = collect(process.stdout);
  const stderr = collect(process.stderr);
  // Another address is another module: the program runs again, and nothing that it imports is loaded again.
  await import(\`\${main}?\${count++}\`);
  const answer = { exitCode: Number(process.exitCode ?? 0), stdout: stdout(), stderr: stderr() };
  process.exitCode = undefined;
  tell(\`\${JSON.stringify(answer)}\\n\`);
}

function collect(stream) {
  const parts = [];
  stream.write = (chunk, ...rest) => {
    parts.push(String(chunk));
    const done = rest.find((each) => typeof each === 'function');
    if (done) process.nextTick(done);
    return true;
  };
  return () => parts.join('');
}
`;

/** `fairlead` of a checkout, for many calls. */
export function startAsker(checkout: string): Dialogue {
  return startDialogue([process.execPath, '--input-type=module', '--eval', PROGRAM, checkout]);
}
