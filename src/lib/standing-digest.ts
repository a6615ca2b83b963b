import { createHash } from 'node:crypto';
import { canonicalJson } from './canonical.ts';

/** The columns of a standing approval that a person decided; how often it was used since is not among them. */
interface DecidedColumns {
  readonly uuid: string;
  readonly agent: string;
  readonly tool: string;
  readonly toolkit: string;
  readonly definition: string;
  /** JSON text. */
  readonly predicates: string;
  readonly expires_at: string;
  readonly max_uses: number;
  readonly created_at: string;
  readonly created_by: string;
}

/** What the log holds of a standing approval, so that no column can be edited unnoticed. */
export const standingDigest = (row: DecidedColumns): string =>
  createHash('sha256')
    .update(
      canonicalJson({
        uuid: row.uuid,
        agent: row.agent,
        tool: row.tool,
        toolkit: row.toolkit,
        definition: row.definition,
        predicates: JSON.parse(row.predicates),
        expires_at: row.expires_at,
        max_uses: row.max_uses,
        created_at: row.created_at,
        created_by: row.created_by,
      }),
    )
    .digest('hex');
