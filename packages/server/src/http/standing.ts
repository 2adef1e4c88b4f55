/** Whether a caller that was let in may still call: keys are revoked, and keys, tokens and sessions expire. */
export interface Standing {
  counts(): Promise<boolean>;
  /** Tells once, when the caller counts no more. Answers what ends the watch. */
  watch(onEnd: () => void): () => void;
}
