import { startContained } from '../process/start-contained.ts';

/**
 * Acts as a worker: runs the script of its first argument with the mark of its second, and shows what that writes, and how it
 * ended. With a third argument, it keeps the program for so many milliseconds at a time.
 */
const [, , script, mark, keepMs] = process.argv;

const started = startContained(
  {
    command: ['sh', '-c', script!],
    cwd: '/',
    env: { PATH: process.env['PATH']! },
    mark: mark!,
    limits: { maxOutputBytes: 1_000_000, maxLineBytes: 1_000_000, killAfterMs: 1000 },
  },
  { onOutput: (chunk) => process.stdout.write(chunk) },
);
if (keepMs !== undefined) {
  const keep = (): void => started.keepFor(Number(keepMs));
  keep();
  setInterval(keep, Number(keepMs) / 4).unref();
}
const { outcome, message } = await started.ended;
process.stdout.write(`${outcome}: ${message}\n`);
