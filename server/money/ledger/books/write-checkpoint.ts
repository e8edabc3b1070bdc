/** Writes a signed statement about everything committed before it. */
import type { Sql } from 'postgres'
import { formatAmount } from '../../../base/lib/money.ts'
import { OperatorError } from '../../../base/lib/operator-error.ts'
import type { SecretBox } from '../../../base/lib/secrets/secrets.ts'
import { type HeadRow, selectHashes, selectHead } from './seal-store.ts'
import { sealEverything } from './sealer.ts'
import { openSigningKey } from './signing-key.ts'
import { type SignedStatement, STATEMENT_FORMAT, signStatement } from './statement.ts'
import { insertCheckpoint, readDatabaseTime } from './statement-store.ts'
import { readTotals } from './totals.ts'

/** Anchors are spread evenly, so that a difference can be narrowed down to 1% of the chain. */
const ANCHORS = 100

/** Throws OperatorError if the ledger has no entries yet. */
export async function writeCheckpoint(
  sql: Sql,
  box: SecretBox,
  version: string,
): Promise<SignedStatement> {
  await sealEverything(sql)
  const head = await selectHead(sql)
  if (!head) throw new OperatorError('the ledger has no entries yet: there is nothing to sign')
  const key = await openSigningKey(sql, box)
  const createdAt = await readDatabaseTime(sql)
  const hashes = await selectHashes(sql, chooseAnchors(head.number))
  const signed = signStatement(
    {
      format: STATEMENT_FORMAT,
      version,
      created_at: createdAt.toISOString(),
      block: Number(head.number),
      hash: head.hash.toString('hex'),
      last_entry: head.upto_id.toString(),
      entries: head.entries_total.toString(),
      totals: toDecimals(head),
      anchors: hashes.map((row) => ({ block: Number(row.number), hash: row.hash.toString('hex') })),
      key_id: key.id,
    },
    key,
  )
  await insertCheckpoint(sql, {
    block: head.number,
    created_at: createdAt,
    key_id: key.id,
    statement: JSON.stringify(signed.statement),
    signature: Buffer.from(signed.signature, 'base64'),
  })
  return signed
}

/** Returns the first block and further ones at even distances. */
function chooseAnchors(head: bigint): bigint[] {
  const count = BigInt(ANCHORS)
  const places = Array.from({ length: ANCHORS }, (_, place) => (head * BigInt(place)) / count)
  return [...new Set(places.map((place) => (place < 1n ? 1n : place)))].filter((one) => one < head)
}

function toDecimals({ totals }: HeadRow) {
  const currencies = Object.entries(readTotals(totals))
  return Object.fromEntries(
    currencies.map(([currency, pots]) => [
      currency,
      Object.fromEntries(Object.entries(pots).map(([pot, nanos]) => [pot, formatAmount(nanos)])),
    ]),
  )
}
