import { type Dialogue, startDialogue } from '../../../lab/host/dialogue.ts';

/** Connects all the time; says how often, and what failed, when it is sent a line. */
const SCRIPT = `
  const net = require('net');
  const failed = {};
  let made = 0;
  const strike = () => {
    const socket = net.connect(80, process.argv[1]);
    let answered = false;
    socket.setTimeout(10000, () => socket.destroy(new Error('no answer')));
    socket.on('data', () => { answered = true; });
    socket.on('error', (error) => { failed[error.code || error.message] = 1 + (failed[error.code] || 0); });
    socket.on('close', () => { if (answered) made++; setImmediate(strike); });
  };
  for (let hand = 0; hand < 4; hand++) strike();
  process.stdin.on('data', () => console.log(JSON.stringify({ made, failed })));
  process.stdin.on('end', () => process.exit());`;

export interface Struck {
  readonly made: number;
  /** By error, how often. */
  readonly failed: Readonly<Record<string, number>>;
}

/** A process in a control group that makes connections to port 80 of an address. */
export class GroupHammer implements Disposable {
  readonly #dialogue: Dialogue;

  constructor(of: { readonly cgroup: string; readonly address: string }) {
    const enter = `echo $$ > ${of.cgroup}/cgroup.procs && exec "$0" -e "$1" "$2"`;
    this.#dialogue = startDialogue(['sh', '-c', enter, process.execPath, SCRIPT, of.address]);
  }

  async soFar(): Promise<Struck> {
    return JSON.parse(await this.#dialogue.ask('?')) as Struck;
  }

  [Symbol.dispose](): void {
    this.#dialogue[Symbol.dispose]();
  }
}
