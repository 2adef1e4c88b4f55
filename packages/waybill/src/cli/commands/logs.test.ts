import { engine, type NewEntry, silentLogger, type Waybill } from '@waybill/core';
import { memoryStore } from '@waybill/core/testing';
import { createApp, serve } from '@waybill/server';
import { describe, expect, onTestFinished, test } from 'vitest';
import { EPOCH, Terminal } from '../testing/terminal.ts';
import { widthOf } from '../text-width.ts';

const text = (sequence: number, output: string, at: number, stream: 'stdout' | 'stderr' = 'stdout'): NewEntry => ({
  ...{ sequence, type: 'output', stream, output: new TextEncoder().encode(output), at: EPOCH + at },
});

/** A server with a job that runs since `EPOCH`, and a terminal that speaks to it. */
async function running(): Promise<{ terminal: Terminal; waybill: Waybill; id: string; append: Append; end: End }> {
  const clock = { now: EPOCH };
  const real = memoryStore();
  const store = Object.assign(real, { clock: { ...real.clock, now: () => clock.now } });
  const waybill = engine({ store, maintenance: false, logger: silentLogger });
  const listening = await serve(createApp({ waybill, version: '0.0.0', logger: silentLogger }), { port: 0 });
  onTestFinished(async () => {
    await listening.close();
    await waybill.close();
  });
  const { job } = await waybill.jobs.enqueue({ type: 'a.b', args: [], options: { retry: { max_attempts: 3 } } });
  const claim = async () => (await waybill.jobs.claim({ queues: ['default'], workerId: 'w1' }))[0]!.token;
  let leaseToken = await claim();
  const terminal = new Terminal(listening.url);
  terminal.now = EPOCH + 60_000;
  return {
    ...{ terminal, waybill, id: job.id },
    append: async (...entries) => void (await waybill.jobs.append({ id: job.id, leaseToken, entries })),
    end: async (ms, isAgain = false) => {
      clock.now = EPOCH + ms;
      const error = { code: 'exit', message: 'It failed.' };
      const outcome = isAgain ? ({ kind: 'requeued', error } as const) : ({ kind: 'completed', result: null } as const);
      await waybill.jobs.settle({ id: job.id, leaseToken, outcome });
      if (isAgain) leaseToken = await claim();
    },
  };
}
type Append = (...entries: NewEntry[]) => Promise<void>;
type End = (ms: number, isAgain?: boolean) => Promise<void>;

async function said() {
  const made = await running();
  await made.append(
    { sequence: 1, type: 'process.started', at: EPOCH, data: { pid: 7, command: 'npm test' } },
    text(2, 'one\ntw', 1_200),
    text(3, 'o\nthree without end', 12_340),
    text(4, 'oh no\n', 63_000, 'stderr'),
    { sequence: 5, type: 'process.failed', at: EPOCH + 3_723_000, data: { exit_code: 1, message: 'It broke.' } },
  );
  await made.end(3_724_000, true);
  await made.append(text(1, '\u001b]0;title\u0007\u001b[2J10 %\r20 %\u0007\n', 3_725_000));
  await made.end(3_726_000);
  return made;
}

test('has help', async () => {
  const { out } = await new Terminal().run('logs', '--help');
  expect(out.split('\n\nExit codes')[0]).toMatchInlineSnapshot(`
    "Usage
      waybill logs JOB [options]

    Show what the runs of a job have said.

    At a terminal each line begins with the time since the start of its run, and !
    marks stderr. In a pipe or a file: the bytes of stdout and stderr as they are,
    and nothing else. With --json one entry per line.

    Options
      --follow       stay, and show what comes, until the job has ended or Ctrl-C
      --run N        only of this run
      --since WHERE  from 5m ago, from a moment, or from a sequence on
      --type TYPES   only entries of these types, like output,metric
      --lifecycle    also what happened to the job
      --playback     at the speed at which it was said
      --store URL    sqlite:FILE, postgres://.., dynamodb://.. or http(s)://HOST
                     [WAYBILL_STORE, sqlite:./waybill.db]
      --tenant NAME  whose jobs and queues [WAYBILL_TENANT, the one without a name]
      --key SECRET   API key for a server; prefer the variable, since other users
                     see arguments [WAYBILL_KEY, none]
      --json         print JSON in the words of the HTTP interface
      --help         show this"
  `);
});

describe('at a terminal', () => {
  test('shows the level of a log entry, and JSON has it', async () => {
    const { terminal, append, end, id } = await running();
    const log = (sequence: number, data: object): NewEntry => ({ sequence, type: 'log', at: EPOCH, data: { ...data } });
    await append(
      log(1, { message: 'halfway', fields: { pages: 120 } }),
      log(2, { message: 'slow disk', level: 'warn', fields: {} }),
      log(3, { message: 'no disk', level: 'error' }),
      log(4, { message: 'own word', level: 'loud' }),
    );
    await end(1);
    Object.assign(terminal, { isTty: true, columns: 80, env: { NO_COLOR: '1' } });
    const lines = (await terminal.text('logs', id)).split('\n').filter((line) => line.includes('•'));
    expect(lines.map((line) => line.slice(line.indexOf('•')))).toEqual([
      '• log halfway fields={"pages":120}',
      '• log warn slow disk fields={}',
      '• log error no disk',
      '• log own word level=loud',
    ]);
    expect((await terminal.run('logs', id, '--json')).out).toContain('"level":"warn"');
  });

  test('shows when each line was said, marks stderr, and separates the runs', async () => {
    const { terminal, id } = await said();
    Object.assign(terminal, { isTty: true, columns: 80, env: { NO_COLOR: '1' } });
    expect(await terminal.text('logs', id.slice(0, 13))).toMatchInlineSnapshot(`
      "
      Run 1 since 2030-01-01T00:00:00.000Z
           +0.0s • process.started pid=7 command="npm test"
           +1.2s   one
           +1.2s   two
          +12.3s   three without end
        +1m03.0s ! oh no
       +1h02m03s • process.failed It broke. exit_code=1

      Run 2 since 2030-01-01T01:02:04.000Z
           +1.0s   20 %
      "
    `);
    expect(await terminal.text('logs', id, '--lifecycle', '--run', '2')).toMatchInlineSnapshot(`
      "
      Run 2 since 2030-01-01T01:02:04.000Z
           +0.0s ▸ started #1 worker_id=w1
           +1.0s   20 %
           +2.0s ▸ completed #1 duration_ms=2000
      "
    `);
    expect(await terminal.text('logs', id, '--type', 'process.failed')).toContain(
      'process.failed It broke. exit_code=1',
    );
  });

  test('colours, and no line is wider than the terminal', async () => {
    const { terminal, id, append } = await running();
    Object.assign(terminal, { isTty: true, columns: 80 });
    await append(text(1, `${'word '.repeat(40)}\n\u001b[32mgreen\u001b[0m\n`, 0), text(2, 'bad\n', 1, 'stderr'));
    const { raw } = await terminal.run('logs', id);
    expect(raw.split('\n').filter((line) => widthOf(line) > 80)).toEqual([]);
    expect(raw).toContain('\u001b[31m! bad');
    expect(raw).toContain('\u001b[32mgreen\u001b[0m');
  });

  test('says where nothing was said', async () => {
    const { terminal, id } = await running();
    terminal.isTty = true;
    expect(await terminal.text('logs', id)).toBe('\nNothing was said.\n');
  });
});

describe('in a pipe', () => {
  test('the bytes of the output, and nothing else', async () => {
    const { terminal, id, append } = await running();
    const bytes = Uint8Array.of(0, 255, 10, 128);
    await append({ sequence: 1, type: 'process.started' }, text(2, 'one', 0), {
      sequence: 3,
      type: 'output',
      stream: 'stderr',
      output: bytes,
    });
    const ran = await terminal.run('logs', id, '--lifecycle');
    expect([...ran.bytes]).toEqual([...Buffer.from('one'), ...bytes]);
    expect([ran.code, ran.err]).toEqual([0, '']);
  });

  test('--json: a line per entry, with --since and --type', async () => {
    const { terminal, id } = await said();
    const of = async (...more: string[]) => {
      const { out } = await terminal.run('logs', id, '--json', ...more);
      return out
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
        .map(({ run, sequence, type }) => (run ? `${run}.${sequence}` : type));
    };
    expect(await of()).toEqual(['1.1', '1.2', '1.3', '1.4', '1.5', '2.1']);
    expect(await of('--since', '4')).toEqual(['1.4', '1.5']);
    expect(await of('--run', '1', '--since', '50s')).toEqual(['1.3', '1.4', '1.5']);
    expect(await of('--since', '2030-01-01T00:30:00Z')).toEqual(['1.5', '2.1']);
    expect(await of('--type', 'output', '--run', '1')).toEqual(['1.2', '1.3', '1.4']);
    expect(await of('--lifecycle', '--run', '2')).toEqual(['job.started', '2.1', 'job.completed']);
  });

  test('refuses what makes no sense, with the exit codes of the others', async () => {
    const { terminal, id } = await running();
    const code = async (...args: string[]) => (await terminal.run('logs', ...args)).code;
    expect(await code(id, '--run', '0')).toBe(2);
    expect(await code(id, '--since', 'yesterday')).toBe(2);
    expect(await code(id, '--follow', '--playback')).toBe(2);
    expect(await code('01900000-0000-7000-8000-000000000000')).toBe(7);
    expect(await code('01900000-0000-7000-8000-000000000000', '--follow')).toBe(7);
  });
});

test('says where a filter matches nothing, and where a pipe shows nothing', async () => {
  const { terminal, id } = await said();
  const pipe = async (...args: string[]) => (await terminal.run('logs', id, ...args)).err;
  expect(await pipe('--run', '9')).toContain('Nothing matches --run, --since or --type. The job has had');
  expect(await pipe('--type', 'outptu')).toContain('Nothing matches');
  expect(await pipe('--type', 'process.failed')).toContain('A pipe shows output only, and not the other 1 entries.');
  expect(await pipe()).toBe('');
});

test('--follow shows what comes and ends with the job', async () => {
  const { terminal, id, append, end } = await running();
  await append(text(1, 'one\n', 0));
  let seen = '';
  terminal.onOutput = (some) => {
    seen += some;
    if (seen === 'one\n') void append(text(2, 'two\n', 1)).then(() => end(2));
  };
  expect(await terminal.text('logs', id, '--follow')).toBe('\none\ntwo\n');
});

test('--follow at a terminal shows a line without end when nothing more comes', async () => {
  const { terminal, id, append, end } = await running();
  Object.assign(terminal, { isTty: true, columns: 80, env: { NO_COLOR: '1' } });
  await append(text(1, 'Password: ', 0));
  let seen = '';
  terminal.onOutput = (some) => {
    seen += some;
    if (seen.endsWith('Password:\n')) void append(text(2, 'thanks\n', 1)).then(() => end(2));
  };
  expect(await terminal.text('logs', id, '--follow')).toMatch(/\+0\.0s {3}Password:\n {5}\+0\.0s {3}thanks\n$/);
});

test('--follow ends by Ctrl-C', async () => {
  const { terminal, id, append } = await running();
  await append(text(1, 'one\n', 0));
  terminal.onOutput = () => terminal.interruption.abort();
  expect(await terminal.run('logs', id, '--follow')).toMatchObject({ code: 0, out: 'one\n' });
});

test('--playback takes as long as it took, leaves out the time between runs, and ends by Ctrl-C', async () => {
  const { terminal, id } = await said();
  expect(await terminal.text('logs', id, '--playback')).toContain('one\ntwo\nthree');
  expect(terminal.waits).toEqual([1_200, 11_140, 50_660, 3_660_000]);
  terminal.waits = [];
  terminal.onSleep = () => terminal.interruption.abort();
  expect(await terminal.run('logs', id, '--playback')).toMatchObject({ code: 0, out: '' });
  expect(terminal.waits).toEqual([1_200]);
});

describe('jobs list --watch', () => {
  test('draws again when something changes and now and then, and leaves the screen as it was', async () => {
    const terminal = new Terminal();
    await terminal.run('enqueue', 'a.b');
    Object.assign(terminal, { isTty: true, columns: 80, rows: 10, env: { NO_COLOR: '1' } });
    let draws = 0;
    terminal.onOutput = (some) => {
      if (some.startsWith('\u001b[H')) draws += 1;
    };
    terminal.onSleep = async (ms, signal) => {
      if (draws === 3) terminal.interruption.abort();
      else if (draws === 2 && ms === 2_000) {
        const changed = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        await terminal.engine(({ jobs }) => jobs.enqueue({ type: 'c.d', args: [] }));
        await changed;
      }
    };
    const { code, raw } = await terminal.run('jobs', 'list', '--watch');
    expect([code, draws]).toEqual([0, 3]);
    expect(terminal.waits).toEqual([2_000, 2_000, 200, 2_000]);
    expect(raw.startsWith('\u001b[?1049h\u001b[?25l')).toBe(true);
    expect(raw.endsWith('\u001b[?25h\u001b[?1049l')).toBe(true);
    expect(raw.split('\u001b[H').at(-1)).toMatch(/c\.d .*\n.*a\.b /);
  });

  test('refuses a pipe, and JSON', async () => {
    const terminal = new Terminal();
    await terminal.run('enqueue', 'a.b');
    expect((await terminal.run('jobs', 'list', '--watch')).code).toBe(2);
    terminal.isTty = true;
    expect((await terminal.run('jobs', 'list', '--watch', '--json')).code).toBe(2);
  });
});
