/** Why there is nothing where something was expected; for programs. */
export type ZeroCause =
  | 'no pod matches'
  | 'no pod is ready'
  | 'no pod of the family'
  | 'port not in slices'
  | 'no slice'
  | 'slice of another service'
  | 'endpoints object only'
  | 'only terminating'
  | 'not ready'
  | 'no endpoint on this node'
  | 'no such service'
  | 'no cluster IP'
  | 'headless'
  | 'external name'
  | 'other proxy'
  | 'not selected'
  | 'not known';
