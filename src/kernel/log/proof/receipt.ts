import type { Database } from '../../store/database.ts';
import type { Entry } from '../entry.ts';
import { type SignatureEntry, signatureEntry, signedDecision } from '../passkeys/entries.ts';
import { signatureRows } from '../passkeys/read.ts';
import { entriesAbout } from '../rows/approval-entries.ts';

/** The last signature under which an approval was decided; undefined when no one signed it. */
export async function findReceipt(
  { db, engine }: Database,
  approval: string,
): Promise<SignatureEntry | undefined> {
  const row = await db
    .selectFrom('approvals')
    .select('uuid')
    .where((eb) => (/^\d{1,9}$/.test(approval) ? eb('id', '=', Number(approval)) : eb('uuid', '=', approval)))
    .executeTakeFirst();
  const entries = row ? await entriesAbout(db, engine, row.uuid) : [];
  const signed = entries.flatMap(
    ({ body }) => signedDecision.safeParse((JSON.parse(body) as Entry).extra?.signed).data ?? [],
  );
  const decision = signed.at(-1);
  if (!decision) return undefined;
  const hashes = decision.by.map(({ entry }) => entry);
  // Of several people, the last one witnessed the most.
  const [last] = (await signatureRows(db, engine, hashes)).sort((a, b) => b.seq - a.seq);
  return last && signatureEntry.parse((JSON.parse(last.body) as Entry).extra);
}

/** Whether a file is a signature as `findReceipt` gives it. */
export const isReceipt = (content: unknown): content is SignatureEntry =>
  signatureEntry.safeParse(content).success;
