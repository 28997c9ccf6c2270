/** Every map of bpf/, by name: each is pinned, and required for reading. */
export const MAP_NAMES: readonly string[] = [
  'frontends',
  'slots',
  'node_addresses',
  'interfaces',
  'affinities',
  'affinity_counts',
  'settings',
  'connected',
  'sent',
  'ended',
];
