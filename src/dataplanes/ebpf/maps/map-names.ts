/** Every map of bpf/, by name: what is pinned, and what must be there to be read. */
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
