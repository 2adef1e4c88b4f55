/** Those who listen and those who notify meet here. */
export const channelOf = (schema: string): string => `waybill_${schema}_wake`;

/** SQL is written with `{schema}` for the schema and `{channel}` for the channel of `pg_notify`, as a literal. */
export function fillIn(sql: string, schema: string): string {
  return sql.replaceAll('{schema}', `"${schema}"`).replaceAll('{channel}', `'${channelOf(schema)}'`);
}
