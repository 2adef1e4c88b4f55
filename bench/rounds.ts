/** Whoever runs first meets a cooler machine, so that the order turns with every round. */
export const orderOf = <T>(systems: readonly T[], round: number): T[] =>
  systems.map((_, place) => systems[(place + round) % systems.length]!);

/** The systems of a workload that were asked for and can run here, in its order. */
export function chosenOf(
  all: readonly string[],
  { wanted, missing }: { wanted: readonly string[] | undefined; missing: Record<string, string> },
): string[] {
  return all.filter((name) => (wanted?.includes(name) ?? true) && missing[name] === undefined);
}
