/** An object with that one field, or with none when there is no value: what does not apply is absent, never null. */
export function present<K extends string, V>(name: K, value: V | null | undefined): { [P in K]?: V } {
  return value === undefined || value === null ? {} : ({ [name]: value } as { [P in K]: V });
}
