export interface WirePagination {
  limit: number;
  has_more: boolean;
  cursor?: string;
}

/** Pass `cursor` back to go on; on the last page there is none. */
export const pagination = (limit: number, cursor: string | undefined): WirePagination => ({
  limit,
  has_more: cursor !== undefined,
  ...(cursor !== undefined && { cursor }),
});
