/** What may travel in a job: plain JSON values and nothing else. */
export type Json = null | boolean | number | string | Json[] | JsonObject;

export interface JsonObject {
  [key: string]: Json;
}
