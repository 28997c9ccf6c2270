import { Argument, Command, Option } from 'commander';
import { printJson, printPage, printWarning } from '../../commands/terminal/print.ts';
import { applyDns } from './dns/apply.ts';
import { hasLink, raiseLink, removeLink } from './dns/dns-link.ts';
import { collectServer, type DnsOptions, domainFrom, findPlan } from './dns/dns-options.ts';
import { DNS_LINK } from './dns/dns-plan.ts';
import { appliedView, leakText, printData, printView, undoneView } from './dns/dns-view.ts';
import { findLeaks } from './dns/leaks.ts';
import { configureLink, listScopes } from './dns/resolvectl.ts';
import { readResolver } from './dns/resolver.ts';
import { undoDns } from './dns/undo.ts';
import { rootOption } from './init-options.ts';
import { programOf } from './init-preflight.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { CONFIG_FILE, THIS_MACHINE } from './paths.ts';

const PROBLEMS_EXIT = 3;
const ACTIONS = {
  print,
  apply,
  undo,
  // What the unit runs.
  link: raise,
  unlink: async () => void (await removeLink()),
} as const;
type Action = keyof typeof ACTIONS;

/** `fairlead outside dns`: names of the cluster, and no others, are asked of the cluster's DNS. */
export function dnsCommand(): Command {
  return new Command('dns')
    .description(
      "resolve names of the cluster by the cluster's DNS, and no others: print shows how this machine resolves names, apply sets it up with systemd-resolved, undo removes it; link and unlink are for the systemd unit",
    )
    .addArgument(
      new Argument('[action]', 'what to do')
        .choices(Object.keys(ACTIONS))
        .default('print' satisfies Action),
    )
    .addOption(
      new Option(
        '--server <address>',
        "address of the cluster's DNS; repeatable; default: that of the configuration or the cluster",
      ).argParser(collectServer),
    )
    .addOption(
      new Option(
        '--domain <name>',
        "the cluster's domain; default: that of the configuration",
      ).argParser(domainFrom),
    )
    .option('--config <path>', 'the configuration of Fairlead', CONFIG_FILE)
    .addOption(rootOption('files below this folder, for another machine'))
    .option('--program <path>', 'fairlead on the machine; default: this one')
    .addOption(
      new Option('-o, --output <form>', 'of print: text for people, json for programs')
        .choices(['text', 'json'])
        .default('text'),
    )
    .action(async (action: Action, options: DnsOptions) => await ACTIONS[action](options));
}

/** Changes nothing. */
async function print(options: DnsOptions): Promise<void> {
  const { root } = options;
  const plan = await findPlan(options);
  const resolver = await readResolver(root);
  const isHere = root === THIS_MACHINE;
  const asksResolved = isHere && resolver.kind.startsWith('resolved');
  const found = {
    root,
    plan,
    resolver,
    isApplied: isHere && (await hasLink()),
    others: asksResolved ? (await listScopes()).filter(({ link }) => link !== DNS_LINK) : undefined,
    leaks: await findLeaks(root, { servers: plan.servers, resolver }),
  };
  if (options.output === 'json') printJson(printData(found));
  else printPage(printView(found));
  if (found.leaks.length > 0) process.exitCode = PROBLEMS_EXIT;
}

async function apply(options: DnsOptions): Promise<void> {
  const { root } = options;
  const { servers, domain } = await findPlan(options);
  const plan = { servers, domain };
  const resolver = await readResolver(root);
  const leaks = await findLeaks(root, { servers, resolver });
  const program = programOf(options);
  const applied = await oneAtATime(root, () => applyDns({ plan, root, program }));
  for (const leak of leaks) printWarning(leakText(leak).replaceAll('\n', ' '));
  if (resolver.kind === 'resolved-bypassed') printWarning(BYPASSED);
  printPage(appliedView(applied, root));
  if (leaks.length > 0 || applied.verdict?.works === false) process.exitCode = PROBLEMS_EXIT;
}

const BYPASSED =
  'programs that read /etc/resolv.conf themselves (dig, programs in Go) do not ask systemd-resolved: ln -sf ../run/systemd/resolve/stub-resolv.conf /etc/resolv.conf';

async function undo({ root }: DnsOptions): Promise<void> {
  printPage(undoneView(await oneAtATime(root, () => undoDns(root)), root));
}

async function raise(options: DnsOptions): Promise<void> {
  const plan = await findPlan(options);
  await raiseLink(plan);
  await configureLink(plan);
}
