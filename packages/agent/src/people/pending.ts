/** A call of a tool that waits for a person. */
export interface Pending {
  key: string;
  kind: 'question' | 'approval';
  tool: string;
  /** As the model gave it, without the known secrets. */
  input: unknown;
}
