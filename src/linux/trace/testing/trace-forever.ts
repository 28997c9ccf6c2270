/** `trace-forever.ts`: probes loopback again and again, until it is killed. */
import { PROTOCOL_TCP } from '../../conntrack/conntrack-protocol.ts';
import { holdPort } from '../../probe/held-port.ts';
import { probeAnswer } from '../../probe/probe-answer.ts';
import { sendSyn } from '../../probe/send-probe.ts';
import { openTrace } from '../trace.ts';

const TARGET = { address: '127.0.0.1', port: 9, protocol: 'TCP' } as const;

for (let count = 0; ; count++) {
  const ended = new AbortController();
  using port = holdPort(TARGET);
  const { source, sourcePort } = port;
  const flow = { family: 'ip', protocol: PROTOCOL_TCP, source, sourcePort } as const;
  await openTrace(flow, { signal: ended.signal, stopsAtEnd: false });
  using sent = sendSyn(port);
  await probeAnswer(sent, port, { timeoutMs: 1000 });
  if (count === 0) process.stdout.write('probes\n');
  ended.abort();
}
