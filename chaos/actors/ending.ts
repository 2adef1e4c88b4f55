/** Before the run loses its patience with a process that was told to end. */
const LATE_MS = 30_000;

/**
 * Ends what a process has open, step by step. A process that takes long is killed, so it names before then the step that
 * it waits for, or what keeps it alive after the last one.
 */
export async function endInOrder(
  steps: readonly (readonly [name: string, end: () => Promise<unknown>])[],
): Promise<void> {
  let doing = 'nothing yet';
  const late = setTimeout(() => {
    const open = process.getActiveResourcesInfo().join(', ');
    process.stderr.write(`Has not ended ${LATE_MS / 1_000} s after SIGTERM: ${doing}. Active: ${open}\n`);
  }, LATE_MS);
  late.unref();
  for (const [name, end] of steps) {
    doing = `waits for ${name}`;
    await end();
  }
  doing = 'everything is closed';
}
