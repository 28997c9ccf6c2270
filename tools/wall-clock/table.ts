/** Files of `src` that may read the wall clock, and the date that each of them reads. */
export const READERS: Readonly<Record<string, string>> = {
  'src/time/clock.ts': 'the clock that all others are given',
  'src/cluster/kubeconfig/exec-plugin.ts': 'the expiry of a credential is a date',
  'src/agent/propagation.ts': 'the trigger of an EndpointSlice is a date',
  'src/agent/dates.ts': 'dates in conditions and snapshots, from ages',
  'src/agent/kubernetes-events.ts': 'eventTime of an Event',
  'src/agent/servers/http-connection.ts': 'the Date header of an answer',
  'src/agent/servers/health-server.ts': 'currentTime in the body of a probe',
  'src/commands/run/stream-logger.ts': 'the time of a log line',
  'src/wings/userspace/plane/forwarder/log.ts': 'the time of a log line',
  'src/commands/doctor/bundle.ts': 'the date of files in an archive',
  'src/commands/services.ts': 'the date above a list that is watched',
  'src/wings/outside/check/api-server.ts': 'the end of a token is a date',
  'src/wings/outside/install.ts': 'the life of a token has two dates',
  'src/wings/outside/token-renewal.ts': 'the life of a token has two dates',
  'src/wings/outside/token.ts': 'the life of a token has two dates',
  'src/wings/view/agent-watch.ts': 'the time of a tick, which the page shows',
  'src/wings/view/node-data.ts': 'the time of a report, which the page shows',
  'src/commands/status-command.ts':
    'the kernel dates the start of a tracked connection, and a token has an end',
};
