import type { ModeNeeds } from '../agent/mode-needs.ts';
import { BUILT_MODES, type BuiltModeName, DEFAULT_MODE, type ModeName } from '../config/modes.ts';
import type { SourceClass } from '../forwarding/model.ts';
import { SOCKET_HOOKS_PART } from './ebpf/hooks-part.ts';
import { IPTABLES, IPTABLES_PART } from './iptables.ts';
import { IPVS_PART } from './ipvs/ipvs-part.ts';
import { IPVS } from './ipvs.ts';
import type { CopiedConnections, Mode } from './mode.ts';
import { ModeError } from './mode-error.ts';
import { NFTABLES, NFTABLES_PART } from './nftables.ts';
import type { AttachmentWords, Part } from './part.ts';
import { SOCKET_EBPF } from './socket-ebpf.ts';
import { TC_EBPF } from './tc-ebpf.ts';
import { FORWARDER_PART } from './userspace/forwarder-part.ts';
import { USERSPACE } from './userspace.ts';

const MODES: Readonly<Record<BuiltModeName, Mode>> = {
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

/** Throws a `ModeError` for a name that only later versions have. */
export function modeNamed(name: ModeName): Mode {
  const mode = found(name);
  if (mode) return mode;
  throw new ModeError(`mode ${name} is not supported by this version`, {
    code: 'MODE_MISSING',
    next: `use one of ${BUILT_MODES.join(', ')}: "mode: ${DEFAULT_MODE}" in the file, or --proxy-mode ${DEFAULT_MODE}`,
  });
}

/** The inputs of commands that only read; none for a mode that this version cannot run. */
export function needsOf(name: ModeName): ModeNeeds {
  return found(name)?.needs ?? { ownAddresses: false, namespaces: false };
}

function found(name: string): Mode | undefined {
  return Object.values(MODES).find((each) => each.name === name);
}

/** Every mode that this version can run, in the order of `BUILT_MODES`. */
export const ALL_MODES: readonly Mode[] = BUILT_MODES.map((name) => MODES[name]);

/** The modes that `fairlead size` supports. */
export const SIZED_MODES = BUILT_MODES.filter((name) => MODES[name].size !== undefined);

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
