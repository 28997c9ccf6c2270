import {
  MESSAGE_NEW,
  NETLINK_NETFILTER,
  NFNLGRP_CONNTRACK_NEW,
} from '../conntrack/conntrack-protocol.ts';
import { decodeFlow, type Flow } from '../conntrack/flow.ts';
import { type Netlink, openNetlink } from '../netlink/netlink-socket.ts';

/** Room for a few thousand events, which is what the kernel makes in a tenth of a second under load. */
const RECEIVE_BUFFER_BYTES = 2 * 1024 * 1024;

export interface NewFlowListener {
  onFlow(flow: Flow): void;
  /** Events were lost: the kernel makes them faster than they are read. */
  onOverrun(): void;
}

/**
 * Hears of each flow whose first packet has passed all rules, until the signal is aborted. The kernel
 * makes such events only while somebody listens (unless net.netfilter.nf_conntrack_events is 0: then
 * never), so whoever has heard enough should stop.
 */
export async function listenToNewFlows(
  listener: NewFlowListener,
  signal: AbortSignal,
  open: () => Netlink = openEvents,
): Promise<void> {
  using netlink = open();
  await netlink.listen(
    {
      onMessage: ({ type, body }) => {
        const flow = type === MESSAGE_NEW ? decodeFlow(body) : undefined;
        if (flow) listener.onFlow(flow);
      },
      onOverrun: () => listener.onOverrun(),
    },
    signal,
  );
}

function openEvents(): Netlink {
  return openNetlink({
    protocol: NETLINK_NETFILTER,
    groups: [NFNLGRP_CONNTRACK_NEW],
    receiveBufferBytes: RECEIVE_BUFFER_BYTES,
  });
}
