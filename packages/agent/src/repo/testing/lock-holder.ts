// Holds the lock of a file until it is killed.
import { whileLocked } from '../cache-lock.ts';

await whileLocked(process.argv[2]!, new AbortController().signal, async () => {
  process.stdout.write('held\n');
  await new Promise(() => setInterval(() => {}, 60_000));
});
