import { TestClock } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { ServiceClock } from './service-clock.ts';

/** A service whose clock is ahead of this machine's, at the end of a network that takes its time both ways. */
class Service {
  readonly #local: TestClock;
  readonly clock: ServiceClock;
  aheadMs = 0;

  constructor(local: TestClock) {
    this.#local = local;
    this.clock = new ServiceClock(local);
  }

  now(): number {
    return this.#local.monotonic() + Date.UTC(2026, 0, 1) + this.aheadMs;
  }

  async answer({ thereMs = 10, backMs = 10 } = {}): Promise<void> {
    const sentAt = this.#local.monotonic();
    await this.#local.advance(thereMs);
    const date = Math.floor(this.now() / 1000) * 1000;
    await this.#local.advance(backMs);
    this.clock.learn(sentAt, date);
  }

  /** How wrong the clock is. */
  get error(): number {
    return this.clock.now() - this.now();
  }
}

const local = (skewMs = 0) => new TestClock(Date.UTC(2026, 0, 1) + skewMs);
const DAY_MS = 86_400_000;

test.each([45_000, -45_000, DAY_MS, -DAY_MS, 700])(
  'B6: with a clock %i ms off, the first answer tells the time to a second, and more of them to a round trip',
  async (skewMs) => {
    const machine = local(skewMs);
    const service = new Service(machine);
    await machine.advance(1_234);
    await service.answer();
    expect(Math.abs(service.error)).toBeLessThanOrEqual(1_010);
    for (let answers = 0; answers < 300; answers++) {
      await service.answer({ thereMs: 5 + (answers % 7) * 5, backMs: 40 - (answers % 5) * 8 });
      await machine.advance(173);
    }
    expect(Math.abs(service.error)).toBeLessThanOrEqual(50);
  },
);

test('B6: a clock that no answer disproves is believed to the millisecond', async () => {
  const machine = local();
  const service = new Service(machine);
  for (let answers = 0; answers < 100; answers++) {
    await service.answer({ thereMs: answers % 30, backMs: answers % 50 });
    await machine.advance(97);
    expect(service.error).toBe(0);
  }
});

test('B6: a small correction never turns time back or makes it hurry', async () => {
  const machine = local(900);
  const service = new Service(machine);
  await service.answer();
  let last = service.clock.now();
  for (let answers = 0; answers < 400; answers++) {
    await service.answer();
    await machine.advance(30);
    const now = service.clock.now();
    expect(now - last).toBeGreaterThanOrEqual(47);
    expect(now - last).toBeLessThanOrEqual(53);
    last = now;
  }
  expect(Math.abs(service.error)).toBeLessThanOrEqual(30);
});

test('B6: setting the clock of the machine changes nothing', async () => {
  const machine = local(45_000);
  const service = new Service(machine);
  for (let answers = 0; answers < 50; answers++) await service.answer();
  for (const jump of [45_000, -90_000, DAY_MS, -2 * DAY_MS]) {
    machine.jump(jump);
    const before = service.error;
    await service.answer();
    expect(Math.abs(service.error - before)).toBeLessThanOrEqual(2);
  }
});

test('B6: one host of the service with a wrong clock is not believed', async () => {
  const machine = local();
  const service = new Service(machine);
  for (let answers = 0; answers < 50; answers++) {
    service.aheadMs = answers % 4 === 3 ? 60_000 : 0;
    await service.answer();
    await machine.advance(500);
    service.aheadMs = 0;
    expect(service.error).toBe(0);
  }
});

test.each([45_000, -45_000, DAY_MS])('B6: the time of a service that jumps by %i ms is taken over', async (jumpMs) => {
  const machine = local();
  const service = new Service(machine);
  await service.answer();
  service.aheadMs = jumpMs;
  for (let answers = 0; answers < 4; answers++) {
    await service.answer();
    await machine.advance(500);
  }
  expect(Math.abs(service.error)).toBeLessThanOrEqual(510);
});

test('B6: after a sleep of the machine, in which its monotonic clock stood still, the first answer counts', async () => {
  const machine = local(45_000);
  const service = new Service(machine);
  for (let answers = 0; answers < 20; answers++) await service.answer();
  machine.jump(8 * 3_600_000);
  service.aheadMs = 8 * 3_600_000;
  await service.answer();
  expect(Math.abs(service.error)).toBeLessThanOrEqual(510);
});

test('B6: an answer that took long bounds the time only as well as it can', async () => {
  const machine = local(3_000);
  const service = new Service(machine);
  await service.answer({ thereMs: 0, backMs: 4_000 });
  expect(Math.abs(service.error)).toBeLessThanOrEqual(2_500);
  await service.answer();
  await machine.advance(60_000);
  expect(Math.abs(service.error)).toBeLessThanOrEqual(510);
});

test('an answer without a date changes nothing', () => {
  const machine = local();
  const clock = new ServiceClock(machine);
  clock.learn(machine.monotonic(), Number.NaN);
  expect(clock.now()).toBe(machine.now());
});
