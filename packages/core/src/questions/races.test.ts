import fc from 'fast-check';
import { expect, test } from 'vitest';
import { engine } from '../engine.ts';
import { silentLogger } from '../logger.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import type { Store } from '../store/store.ts';
import { propertyRuns } from '../testing/property-runs.ts';
import { TestClock } from '../testing/test-clock.ts';
import { asking, mustWake } from '../testing/test-questions.ts';
import type { Waybill } from '../waybill.ts';

const GROUPS = ['records'] as const;
const VERBS = ['get', 'apply', 'put'];

/** One server's way to the store: each call waits until it is its turn, and dies where it is told to. */
class Way {
  readonly waybill: Waybill;
  #next: (() => void) | undefined;
  #arrived = Promise.withResolvers<void>();
  #isDead = false;

  constructor(store: Store) {
    const gated = <T extends object>(target: T): T =>
      new Proxy(target, {
        get: (_, name) => {
          const value: unknown = Reflect.get(target, name, target);
          if (name === 'close') return async () => {};
          if (GROUPS.includes(name as never)) return gated(value as object);
          if (typeof value !== 'function') return value;
          if (!VERBS.includes(name as string)) return value.bind(target);
          return (...given: unknown[]) => this.#turn(() => value.apply(target, given));
        },
      });
    this.waybill = engine({ store: gated(store), logger: silentLogger, maintenance: false });
  }

  async #turn(call: () => Promise<unknown>): Promise<unknown> {
    if (this.#isDead) throw new Error('dead');
    await new Promise<void>((resolve) => {
      this.#next = resolve;
      this.#arrived.resolve();
    });
    if (this.#isDead) throw new Error('dead');
    return call();
  }

  /** Lets the call that waits go, or die. Answers false when there is no more to come. */
  async step(ended: Promise<unknown>, dies: boolean): Promise<boolean> {
    const isOver = await Promise.race([ended.then(() => true), this.#arrived.promise.then(() => false)]);
    if (isOver) return false;
    this.#arrived = Promise.withResolvers();
    this.#isDead ||= dies;
    const next = this.#next!;
    next();
    return true;
  }
}

/** Whose call is next, and which call of which side is its last. */
const SCHEDULE = fc.record({
  turns: fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 30, maxLength: 30 }),
  dies: fc.tuple(...Array.from({ length: 3 }, () => fc.option(fc.integer({ min: 0, max: 12 }), { nil: -1 }))),
});

test('in whatever order and wherever they die: a stored answer wakes its job, and one is counted', async () => {
  await fc.assert(
    fc.asyncProperty(SCHEDULE, async ({ turns, dies }) => {
      const clock = new TestClock();
      const store = memoryStore({ clock });
      const waybill = engine({ store, logger: silentLogger, maintenance: false });
      const asked = await asking(waybill);
      const { id: questionId } = asked.question;
      const [worker, one, other] = [new Way(store), new Way(store), new Way(store)];
      const answers: string[] = [];
      const answer = async (by: Waybill, choice: string) => {
        await by.questions.answer(questionId, { choice });
        answers.push(choice);
      };
      const sides = [
        { way: worker, run: asked.sleep(worker.waybill).then(() => asked.confirm(worker.waybill)) },
        { way: one, run: answer(one.waybill, 'yes') },
        { way: other, run: answer(other.waybill, 'no') },
      ].map(({ way, run }, index) => {
        const ended = run.catch(() => {});
        return { way, ended, calls: 0, dies: dies[index]! };
      });
      const open = new Set(sides);
      for (let turn = 0; open.size > 0; turn += 1) {
        const side = [...open][(turns[turn % turns.length] ?? 0) % open.size]!;
        if (!(await side.way.step(side.ended, side.calls === side.dies))) open.delete(side);
        side.calls += 1;
      }
      const isAnswered = await mustWakeOrRun(store, asked.id, questionId);
      expect(answers.length).toBeLessThanOrEqual(1);
      const shown = await waybill.questions.get(questionId);
      if (answers.length === 1) expect(shown.answer!.choice).toBe(answers[0]);
      // Nothing that has died keeps others from answering.
      if (!isAnswered) await waybill.questions.answer(questionId, { choice: 'yes' });
      await mustWakeOrRun(store, asked.id, questionId);
      await waybill.close();
    }),
    { numRuns: propertyRuns(5_000) },
  );
});

/** The run may still be active, where its worker died before it was settled: then the lease brings the job back. */
async function mustWakeOrRun(store: Store, id: string, questionId: string): Promise<boolean> {
  const [job] = await store.get([{ tenant: '', id }]);
  if (job!.state !== 'active') return mustWake(store, { id, questionId });
  const [record] = await store.records.get([{ tenant: '', kind: 'question', id: questionId }]);
  return record!.value['answer'] !== null;
}
