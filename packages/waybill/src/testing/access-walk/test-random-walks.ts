import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Cell, cellsOf, isNarrowed, sees } from './cells.ts';
import { ROUTES } from './routes.ts';
import { idsHidden, NAMES, sendersOf, walkerOn } from './senders.ts';
import { outOfReach, storedFor, withoutAudit } from './stored.ts';
import type { StoreToWalk } from './stores.ts';
import { noThings, thingsIn } from './things.ts';
import { hasScope, leaksIn, type Sender, type Walker } from './walker.ts';

export function testRandomWalks({ open, canRun }: StoreToWalk, numRuns: number): void {
  test.skipIf(!canRun)('random requests of random keys in random worlds', async () => {
    const walker = await walkerOn(open);
    let world = 0;
    await fc.assert(
      fc.asyncProperty(anyWorld, anySteps, async (things, steps) => {
        world += 1;
        await walk(walker, [`a${world}`, `b${world}`], things, steps);
      }),
      { numRuns, endOnFailure: true },
    );
  });
}

const KINDS_OF_THINGS = [
  'job',
  'pending',
  'held',
  'dead',
  'flow',
  'failedFlow',
  'cron',
  'worker',
  'limit',
  'record',
  'hook',
  'key',
] as const;
const anyWorld = fc.array(fc.record({ cell: fc.nat(7), kind: fc.constantFrom(...KINDS_OF_THINGS) }), {
  ...{ minLength: 4, maxLength: 12 },
});

const anyStep = fc.record({
  sender: fc.nat(999),
  route: fc.constantFrom(...NAMES),
  cell: fc.nat(7),
  isThere: fc.boolean(),
  header: fc.constantFrom(...(['none', 'none', 'none', 'own', 'other', 'system'] as const)),
});
const anySteps = fc.array(anyStep, { minLength: 8, maxLength: 20 });
type Step = typeof anyStep extends fc.Arbitrary<infer One> ? One : never;

async function walk(
  walker: Walker,
  tenants: readonly [string, string],
  things: readonly { cell: number; kind: (typeof KINDS_OF_THINGS)[number] }[],
  steps: readonly Step[],
): Promise<void> {
  const { waybill } = walker;
  const cells = tenants.flatMap(cellsOf);
  const limitKeys: string[] = [];
  for (const { cell, kind } of things) {
    const made = await thingsIn(waybill, cells[cell]!)[kind]();
    if (kind === 'limit') limitKeys.push(String(made));
  }
  const senders = await sendersOf(walker, tenants);
  const storedNow = () => Promise.all(tenants.map((tenant) => storedFor(waybill, tenant, limitKeys)));
  for (const step of steps) {
    const sender = senders[step.sender % senders.length]!;
    const cell = cells[step.cell]!;
    const asked = await ROUTES[step.route]!.ask(step.isThere ? thingsIn(waybill, cell) : noThings(cell));
    const other = tenants.find((tenant) => tenant !== sender.tenant)!;
    const header = { none: undefined, own: sender.tenant, other, system: '~system' }[step.header];
    const as = meantBy(sender, step, { other, cell });
    const before = await storedNow();
    const { status, text } = await walker.send(sender, step.route, asked, header);
    const after = await storedNow();
    const at = [as.name, step, asked];
    expect([at, leaksIn(text, asked, as, idsHidden([...before, ...after], as))]).toEqual([at, []]);
    const expected = expectedOf(as, step, cell);
    if (expected) expect([at, expected.includes(status), status, text]).toEqual([at, true, status, text]);
    else expect([at, status < 500 && status !== 401, text]).toEqual([at, true, text]);
    tenants.forEach((tenant, index) => {
      const [was, is] = [before[index]!, after[index]!];
      if (tenant !== as.tenant) expect([at, JSON.stringify(is)]).toEqual([at, JSON.stringify(was)]);
      else if (status >= 400) expect([at, withoutAudit(is)]).toEqual([at, withoutAudit(was)]);
      else expect([at, outOfReach(is, as)]).toEqual([at, outOfReach(was, as)]);
    });
  }
}

/** An operator who names another tenant, by the header or in the path, is one of that tenant for this request. */
function meantBy(
  sender: Sender,
  { route, header, isThere }: Step,
  { other, cell }: { other: string; cell: Cell },
): Sender {
  if (!sender.isOperator) return sender;
  if (ROUTES[route]!.namesTenant && isThere) return { ...sender, tenant: cell.tenant };
  return header === 'other' ? { ...sender, tenant: other } : sender;
}

/** The statuses that an answer may have; undefined: what the thing's state allows. */
function expectedOf(sender: Sender, { route, header, isThere }: Step, cell: Cell): number[] | undefined {
  const { scope, isAboutOne } = ROUTES[route]!;
  if (header === 'system') return [400];
  if (header === 'other' && !sender.isOperator) return [403];
  if (!hasScope(sender, scope)) return [403];
  if (!isAboutOne || (isThere && sees(sender, cell))) return undefined;
  // Limits, workers, records and what would be made where the sender cannot see it are refused to narrowed ones.
  return isNarrowed(sender) ? [404, 403] : [404];
}
