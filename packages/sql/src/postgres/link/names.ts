/** Those who listen and those who notify meet here. */
export const channelOf = (schema: string): string => `waybill_${schema}_wake`;

/** A channel of its own: only processes in which journals are followed listen to it. */
export const grownChannelOf = (schema: string): string => `waybill_${schema}_grown`;

/** SQL is written with `{schema}` for the schema, and `{channel}` and `{grown}` for the channels of `pg_notify`, as literals. */
export function fillIn(sql: string, schema: string): string {
  return sql
    .replaceAll('{schema}', `"${schema}"`)
    .replaceAll('{channel}', `'${channelOf(schema)}'`)
    .replaceAll('{grown}', `'${grownChannelOf(schema)}'`);
}
