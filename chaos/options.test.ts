import { describe, expect, it } from 'vitest';
import { commandFor, optionsOf, roundsOf } from './options.ts';

const read = (line: string) => optionsOf(line.split(' ').filter(Boolean), () => 'random');
const parsed = (line: string) => {
  const options = read(line);
  if (options === 'help') throw new Error('help');
  return options;
};

describe('the options', () => {
  it('have defaults for all but the store', () => {
    expect(read('--store sqlite')).toEqual({
      ...{ store: 'sqlite', minutes: 2, seed: 'random', jobsPerSecond: undefined },
      ...{ planOnly: false, keep: false, json: false },
    });
    expect(read('--store postgres --minutes 0.5 --seed 34a9c1b --jobs-per-second 5 --keep --json --plan')).toEqual({
      ...{ store: 'postgres', minutes: 0.5, seed: '34a9c1b', jobsPerSecond: 5 },
      ...{ planOnly: true, keep: true, json: true },
    });
    expect(read('--help')).toBe('help');
  });

  it.each([
    ['', '--store is needed: sqlite, postgres, dynamodb'],
    ['--store postgre', "there is no store 'postgre' here. Did you mean 'postgres'?"],
    ['--stor sqlite', "there is no option '--stor'. Did you mean 'store'?"],
    ['--store sqlite --minute 3', "there is no option '--minute'. Did you mean 'minutes'?"],
    ['--store sqlite --quick', "there is no option '--quick'."],
    ['--store sqlite 5', "'5' is no option; they begin with --"],
    ['--store sqlite --minutes 0', "--minutes takes a number above 0, not '0'"],
    ['--store sqlite --minutes many', "--minutes takes a number above 0, not 'many'"],
    ['--store sqlite --seed', '--seed needs a value'],
    ['--store sqlite --seed a/b', '--seed takes up to 64 letters, digits, dots and dashes'],
  ])('refuse %j', (line, message) => {
    expect(() => read(line)).toThrow(message);
  });
});

describe('a night', () => {
  it('is rounds that can be run again one by one', () => {
    const rounds = roundsOf(parsed('--store sqlite --minutes 25 --seed s'));
    expect(rounds.map(({ seed, minutes }) => [seed, minutes])).toEqual([
      ['s', 10],
      ['s.2', 10],
      ['s.3', 5],
    ]);
    expect(commandFor(rounds[1]!)).toBe('npm run chaos -- --store sqlite --seed s.2 --minutes 10');
    expect(roundsOf(parsed('--store sqlite --minutes 0.3'))).toHaveLength(1);
  });
});
