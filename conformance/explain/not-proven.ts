/** Questions to which `fairlead explain` may have no proof, by what it says, and why that is right. */
const EXCLUSIONS: readonly { readonly says: RegExp; readonly reason: string }[] = [
  {
    says: /would write an affinity entry/,
    reason: 'a probe would bind the client to an endpoint before the scenario does',
  },
  {
    says: /the agent itself accepts connections there/,
    reason: 'node ports on loopback that the agent relays meet no rule',
  },
];

/** The reason, for the table; undefined: there should have been a proof. */
export function whyNotProven(says: string): string | undefined {
  return EXCLUSIONS.find((each) => each.says.test(says))?.reason;
}
