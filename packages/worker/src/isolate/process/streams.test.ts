import { describe, expect, it } from 'vitest';
import { lack, MB, node, sh } from '../testing/contain.ts';

describe.skipIf(lack)(`the output limit (skipped: ${lack})`, () => {
  it.each([
    ['stdout', 'exec head -c 1000000000 /dev/zero'],
    ['stderr', 'exec head -c 1000000000 /dev/zero >&2'],
  ] as const)('output_limit: 1 GB on %s', async (expected, script) => {
    let heard = 0;
    const before = process.memoryUsage().rss;
    const onOutput = (chunk: Buffer, stream: string) => {
      expect(stream).toBe(expected);
      heard += chunk.length;
    };
    const end = await sh(script, { limits: { maxOutputBytes: 5 * MB }, hooks: { onOutput } }).outcome();
    expect(end).toMatchObject({ outcome: 'output_limit', message: 'The program wrote more than 4.8 MiB.' });
    expect(heard).toBe(5 * MB);
    expect(end.lastOutput).toHaveLength(64 * 1024);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * MB);
  });

  it('both streams together, to the byte', async () => {
    const script = 'head -c 600 /dev/zero; head -c 400 /dev/zero >&2';
    expect(await sh(script, { limits: { maxOutputBytes: 1000 } }).outcome()).toMatchObject({ outcome: 'exited' });
    expect(await sh(script, { limits: { maxOutputBytes: 999 } }).outcome()).toMatchObject({ outcome: 'output_limit' });
  });

  it('what a hook throws ends nothing', async () => {
    const onOutput = () => {
      throw new Error('of the owner');
    };
    expect(await sh('echo x', { hooks: { onOutput } }).outcome()).toMatchObject({
      outcome: 'exited',
      lastOutput: 'x\n',
    });
  });
});

describe.skipIf(lack)(`the channel (skipped: ${lack})`, () => {
  it('carries lines in both directions', async () => {
    const lines: string[] = [];
    const onLine = (line: string) => {
      lines.push(line);
      started.send(`heard ${line}`);
    };
    const script = 'echo hello >&3; read answer <&3; echo "$answer"; printf "ümlaut\\nlast" >&3';
    const started = sh(script, { channel: true, hooks: { onLine } });
    expect(await started.outcome()).toMatchObject({ outcome: 'exited', lastOutput: 'heard hello\n' });
    expect(lines).toEqual(['hello', 'ümlaut', 'last']);
  });

  it('is not read on while its owner holds more than a line may have', async () => {
    const [lines, bound] = [500_000, 100_000];
    let [heard, held, most] = [0, 0, 0];
    let release = Promise.withResolvers<void>();
    let before = 0;
    // The owner is done with all of them when no more come.
    const timer = setInterval(() => {
      const { resolve } = release;
      if (heard === before) {
        release = Promise.withResolvers();
        resolve();
      }
      before = heard;
    }, 50);
    const onLine = async (): Promise<void> => {
      [heard, held] = [heard + 1, held + 1];
      most = Math.max(most, held);
      await release.promise;
      held -= 1;
    };
    const end = await sh(`yes | head -n ${lines} >&3`, { channel: true, hooks: { onLine } }).outcome();
    clearInterval(timer);
    expect([end.outcome, heard]).toEqual(['exited', lines]);
    expect(most).toBeLessThan(bound);
  });

  it('is read to its end when the program is gone, whatever is held', async () => {
    const lines: string[] = [];
    const onLine = (line: string): Promise<void> => {
      lines.push(line.slice(0, 4));
      return new Promise(() => {});
    };
    const long = "head -c 30000 /dev/zero | tr '\\0' x >&3; echo >&3";
    const script = `for i in 1 2 3 4 5 6 7; do ${long}; done; echo last >&3`;
    const limits = { maxLineBytes: 100_000 };
    const end = await sh(script, { channel: true, limits, hooks: { onLine } }).outcome();
    expect([end.outcome, lines]).toEqual(['exited', [...Array(7).fill('xxxx'), 'last']]);
  });

  it.each([
    ['without an end', 'head -c 300000000 /dev/zero >&3'],
    ['with an end', 'head -c 2000000 /dev/zero >&3; echo >&3'],
  ])('invalid_result: a huge line %s', async (_, script) => {
    const lines: string[] = [];
    const hooks = { onLine: (line: string) => lines.push(line) };
    const end = await sh(`echo first >&3; ${script}; exit 0`, { channel: true, hooks }).outcome();
    expect(end).toMatchObject({
      outcome: 'invalid_result',
      message: 'The program wrote a line of more than 1 MiB to descriptor 3.',
    });
    expect(lines).toEqual(['first']);
  });

  it('invalid_result: lines of the worker that stay unread', async () => {
    const started = sh('sleep 1000', { channel: true, limits: { maxLineBytes: 100_000 } });
    for (let i = 0; i < 100; i += 1) started.send('x'.repeat(50_000));
    const end = await started.outcome();
    expect(end).toMatchObject({
      outcome: 'invalid_result',
      message: 'The program left more than 100000 bytes unread on descriptor 3.',
    });
  });

  it('loses nothing when the worker writes to a program that has ended', async () => {
    const lengths: number[] = [];
    const onLine = (line: string) => {
      lengths.push(line.length);
      started.send('an answer that comes too late');
      // The rest waits in the socket, and its writer is gone.
      for (const until = performance.now() + 5; performance.now() < until; );
    };
    const script = `const line = 'x'.repeat(9999) + '\\n'; for (let i = 0; i < 40; i++) fs.writeSync(3, line)`;
    const started = node(script, { channel: true, hooks: { onLine } });
    expect(await started.outcome()).toMatchObject({ outcome: 'exited' });
    expect(lengths).toEqual(new Array(40).fill(9999));
  });

  it('may be closed by the program', async () => {
    const started = sh('exec 3>&-; echo closed; read x; exit 4', { channel: true, stdin: 'x\n' });
    started.send('nothing reads this');
    expect(await started.outcome()).toMatchObject({ outcome: 'nonzero', exitCode: 4 });
  });
});
