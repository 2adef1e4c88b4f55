import { startContained } from '../process/start-contained.ts';

/** Acts as a worker: runs the script of its first argument with the mark of its second, and shows what that writes. */
const [, , script, mark] = process.argv;

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
await started.ended;
