/** The inputs that a mode needs from the agent besides rows. */
export interface ModeNeeds {
  /** Addresses of the machine: the plane leaves them to packets, as a process may serve them. */
  readonly ownAddresses: boolean;
  /** Namespace objects: a label of theirs takes their Services away from the mode's programs. */
  readonly namespaces: boolean;
}
