import type { Agent } from '../../agent/agent.ts';
import { LocalhostRelay } from '../../agent/servers/localhost-relay.ts';
import { RelaySlots } from '../../agent/servers/relay.ts';
import { openFileLimit } from '../../linux/open-files.ts';
import type { Logger } from '../../log/logger.ts';
import { systemClock } from '../../time/clock.ts';

/** Two file descriptors for each connection, and a quarter of all for the relay. */
const DESCRIPTORS_PER_CONNECTION = 8;

/** TCP node ports on loopback, for modes that cannot redirect packets away from it. */
export function localhostRelay(agent: () => Agent, log: Logger): LocalhostRelay {
  return new LocalhostRelay({
    facts: () => agent().facts,
    rows: () => agent().desired().rows,
    slots: new RelaySlots(Math.floor(openFileLimit() / DESCRIPTORS_PER_CONNECTION)),
    monotonicMs: () => systemClock.monotonicMs(),
    onListenFailure: (error) => log.warn({ code: error.code }, `${error.message}; ${error.next}`),
    onProblem: (error) => log.warn(error.message),
  });
}
