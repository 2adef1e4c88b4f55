/** Runs `step` again and again, so many at a time, until it says that it is done. */
export async function inFlight(count: number, step: () => Promise<boolean>): Promise<void> {
  await Promise.all(
    Array.from({ length: count }, async () => {
      while (await step());
    }),
  );
}
