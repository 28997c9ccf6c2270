/** kube-prometheus' name for the job, so that its Proxy dashboard and its alerts work too. */
export const JOB = 'kube-proxy';

/** The conditions that /readyz needs; `.` stands for itself too. */
export const READY = 'fairlead_condition{condition=~"firstSync|listed|timely.IPv[46]"}';

/** How full each table is that can be full, as a share. A table without a limit has no value. */
export const FILLS = [
  {
    table: 'conntrack',
    query: 'fairlead_conntrack_entries / (fairlead_conntrack_entries_limit > 0)',
  },
  { table: 'affinity', query: 'fairlead_affinity_clients / (fairlead_affinity_clients_room > 0)' },
  {
    table: 'forwarder',
    query: 'fairlead_forwarder_open_connections / (fairlead_forwarder_connections_room > 0)',
  },
] as const;
