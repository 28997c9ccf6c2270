import type { ModeNeeds } from '../agent/mode-needs.ts';
import { MODE_NAMES, type ModeName } from '../config/modes.ts';
import type { SourceClass } from '../forwarding/model.ts';
import { SOCKET_HOOKS_PART } from '../wings/ebpf/hooks-part.ts';
import { IPTABLES, IPTABLES_PART } from '../wings/iptables/iptables-mode.ts';
import { IPVS_PART } from '../wings/ipvs/ipvs-part.ts';
import { IPVS } from '../wings/ipvs/ipvs-mode.ts';
import type { CopiedConnections, Mode } from './mode.ts';
import { NFTABLES, NFTABLES_PART } from './nftables.ts';
import type { AttachmentWords, Part } from './part.ts';
import { SOCKET_EBPF } from '../wings/ebpf/socket-ebpf.ts';
import { TC_EBPF } from '../wings/ebpf/tc-ebpf.ts';
import { FORWARDER_PART } from '../wings/userspace/forwarder-part.ts';
import { USERSPACE } from '../wings/userspace/userspace-mode.ts';

const MODES: Readonly<Record<ModeName, Mode>> = {
  nftables: NFTABLES,
  iptables: IPTABLES,
  ipvs: IPVS,
  'socket-ebpf': SOCKET_EBPF,
  'tc-ebpf': TC_EBPF,
  userspace: USERSPACE,
};

/** Everything that any mode may have in the kernel, in the order in which it is removed. */
export const ALL_PARTS: readonly Part[] = [
  SOCKET_HOOKS_PART,
  FORWARDER_PART,
  IPVS_PART,
  NFTABLES_PART,
  IPTABLES_PART,
];

/** For a place that only later versions have, its own name. */
export function attachmentWords(place: string): AttachmentWords {
  const known = ALL_PARTS.flatMap(({ attachments }) => attachments);
  const unknown = { place, title: place, noun: place, isHook: false };
  return (
    known.find((words) => words.place === place) ?? {
      ...unknown,
      named: (name) => `${place} ${name}`,
    }
  );
}

export function modeNamed(name: ModeName): Mode {
  return MODES[name];
}

/** The inputs of commands that only read. */
export function needsOf(name: ModeName): ModeNeeds {
  return modeNamed(name).needs;
}

/** Of an agent, which may be of a later version. */
function found(name: string): Mode | undefined {
  return Object.values(MODES).find((each) => each.name === name);
}

/** In the order of `MODE_NAMES`. */
export const ALL_MODES: readonly Mode[] = MODE_NAMES.map((name) => MODES[name]);

/** The modes that `fairlead size` supports. */
export const SIZED_MODES = MODE_NAMES.filter((name) => MODES[name].size !== undefined);

/** Undefined: all connections have a conntrack entry, or only a later version knows the mode. */
export function unseenConnectionsIn(mode: string): string | undefined {
  return found(mode)?.unseenConnections;
}

/** Source classes whose connections have no conntrack entry; none in a mode of a later version. */
export function unseenSourcesIn(mode: string): readonly SourceClass[] {
  return found(mode)?.unseenSources ?? [];
}

/** Undefined: the kernel forwards alone, or only a later version knows the mode. */
export function copiedConnectionsIn(mode: string): CopiedConnections | undefined {
  return found(mode)?.copied;
}
