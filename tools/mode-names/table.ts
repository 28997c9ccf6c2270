/** Names of modes, as `src/config/modes.ts` has them. */
export const MODE_NAMES = [
  'nftables',
  'iptables',
  'ipvs',
  'socket-ebpf',
  'tc-ebpf',
  'userspace',
] as const;

/**
 * Files, or folders when they end in `/`, that may name a mode, and why. Everything else asks a value
 * of `src/modes/`, a trait of `src/config/modes.ts`, or a row of `lab/proxies/fairlead-modes.ts`.
 */
export const NAMED_IN: Readonly<Record<string, string>> = {
  'src/modes/': 'one value for each mode, and the registry',
  'src/config/modes.ts': 'the names and traits that the configuration knows',
  'src/config/fields/traffic-fields.ts': "the blocks of kube-proxy's file are called as its modes",
  'src/config/ipvs-block.ts': "the blocks of kube-proxy's file are called as its modes",
  'src/config/validate.ts': "the blocks of kube-proxy's file are called as its modes",
  'src/wings/kubectl/swap/prerequisites.ts': 'the mode that can run beside any kube-proxy',
  'src/wings/outside/check/ports.ts': "kube-proxy's chains are Fairlead's own in one mode",
  'src/doctor/checks/foreign-chains.ts': 'the program of that name',
  'src/wings/outside/shell/shell-files.ts': 'the configuration that a shell writes for its agent',
  'src/linux/filter-table.ts': 'the program of that name',
  'src/doctor/checks/kube-proxy-leftovers.ts': "kube-proxy's own modes",
  'src/wings/wing-registry.ts': 'which wing has which mode',
  'src/wings/iptables/': 'its own name',
  'src/wings/ipvs/': 'its own name, and the kernel subsystem that its capture writes to',
  'src/wings/ebpf/': 'its own names',
  'src/wings/userspace/': 'its own name',
  'src/dataplanes/nftables/': 'its own name',
  'src/linux/xtables/': 'the program of that name',
  'lab/host/kernel-parts.ts': 'the part of the kernel of that name',
  'lab/network/wipe-ipvs.ts': 'the part of the kernel of that name',
  'lab/proxies/fairlead-modes.ts': 'the one list of the test beds',
  'lab/proxies/upstream.ts': "kube-proxy's variants",
  'lab/proxies/fairlead.ts': "kube-proxy's mode in the file of a mode that it does not have",
  'lab/proxies/iptables-tools.ts': 'the program of that name',
  'lab/real/images/catalogue.ts': 'the program of that name',
  'lab/tour/chapters/': 'what a chapter is about',
  'lab/tour/programs.ts': 'the program of that name',
  'bench/': 'which proxy is measured, and its goal',
  'conformance/': 'what kube-proxy does in one mode, and what is planted behind it',
  'e2e/': 'which proxy is run when none is named',
  'integration/': 'which proxy is run, and programs of that name',
  'tools/layers/table.ts': 'the folder of that name',
  'tools/wings/table.ts': 'the wings that are modes',
  'tools/ci/': 'which proxies a part of CI runs',
  'tools/image/unpack-debian.ts': 'the Debian package of that name',
};
