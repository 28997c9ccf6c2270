/** `agent.ts NAME PORT`: a host of a test. It ends when the test does. */
import { setImmediate } from 'node:timers/promises';
import { codeOf, type Held, hold } from './held.ts';
import {
  type Answer,
  failure,
  type Peer,
  type Question,
  type Request,
  type Response,
} from './host-messages.ts';
import { LAST_WORD, serve } from './serve-requests.ts';

const [name = '', port = ''] = process.argv.slice(2);
const FREE_PORT_DEADLINE_MS = 2000;
const holds = new Map<number, Held>();

process.on('disconnect', () => process.exit());
process.on('message', (request: Request) => {
  void act(request).then((answers) => say({ id: request.id, answers }));
});
await serve(name, Number(port));
say({ id: 0, answers: [] });

function say(response: Response): void {
  process.send?.(response);
}

async function act(request: Request): Promise<readonly Answer[]> {
  try {
    switch (request.what) {
      case 'ask':
        return await ask(request.question);
      case 'hold':
        holds.set(request.id, await hold(request.peer));
        return [];
      case 'speak': {
        const held = holds.get(request.held);
        return [held ? await held.speak(request.say) : failure('NOT_HELD')];
      }
    }
  } catch (error) {
    return [failure(codeOf(error))];
  }
}

async function ask({ count = 1, payloadBytes = 0, ...peer }: Question): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let asked = 0; asked < count; asked++) answers.push(await askOnce(peer, payloadBytes));
  return answers;
}

async function askOnce(peer: Peer, payloadBytes: number): Promise<Answer> {
  try {
    const held = await holdWithFreePort(peer);
    const answer = await held.speak(LAST_WORD.padEnd(payloadBytes, '.'));
    if (answer.from !== '') await held.ended();
    held.close();
    return answer;
  } catch (error) {
    return failure(codeOf(error));
  }
}

/** The last answer of the other side may be on its way: until it is here, the port is not free. */
async function holdWithFreePort(peer: Peer): Promise<Held> {
  const deadlineMs = performance.now() + FREE_PORT_DEADLINE_MS;
  for (;;) {
    try {
      return await hold(peer);
    } catch (error) {
      if (codeOf(error) !== 'EADDRNOTAVAIL' || performance.now() > deadlineMs) throw error;
      await setImmediate();
    }
  }
}
