/** Applies the token issuers of catalog files. */
import type { TransactionSql } from 'postgres'
import { findDifferences } from '../../../base/lib/differences.ts'
import type { TokenIssuer } from '../../../base/lib/token-issuer.ts'
import {
  type IssuerRow,
  retireIssuers,
  saveIssuer,
  selectIssuers,
} from '../issuers/issuer-store.ts'
import type { Mistake } from '../mistakes.ts'
import { isActive } from '../store.ts'
import type { CatalogChange } from './change.ts'
import { CatalogError, type NamedCatalogFile } from './file.ts'

/**
 * Saves and retires issuers. `isRetired` is true for stored issuers that no file has. Throws
 * CatalogError for ids that appear twice, and for two issuers of the same tokens.
 */
export async function applyIssuers(
  sql: TransactionSql,
  files: readonly NamedCatalogFile[],
  isRetired: (row: IssuerRow) => boolean,
): Promise<CatalogChange[]> {
  const stored = await selectIssuers(sql)
  const known = new Map(stored.map((row) => [row.id, row]))
  const changes: CatalogChange[] = []
  for (const { content, source: own } of files) {
    for (const { source = own, ...rest } of content.token_issuers) {
      const definition: TokenIssuer = JSON.parse(JSON.stringify(rest))
      const change = compare(known.get(rest.id), source, definition)
      if (!change) continue
      await saveIssuer(sql, { id: rest.id, source, definition })
      changes.push(change)
    }
  }
  const retired = stored.filter((row) => isActive(row) && isRetired(row)).map(({ id }) => id)
  if (retired.length > 0) await retireIssuers(sql, retired)
  const mistakes = findTwins(files, (await selectIssuers(sql)).filter(isActive))
  if (mistakes.length > 0) throw new CatalogError(mistakes)
  return [
    ...changes,
    ...retired.map(
      (id): CatalogChange => ({ kind: 'token_issuer', id, change: 'retired', what: [] }),
    ),
  ]
}

function compare(
  row: IssuerRow | undefined,
  source: string,
  definition: TokenIssuer,
): CatalogChange | undefined {
  const change = { kind: 'token_issuer', id: definition.id } as const
  if (!row) return { ...change, change: 'added', what: [] }
  const differences = findDifferences(row.definition, definition)
  const what = [
    ...(row.status === 'retired' ? ['status'] : []),
    ...new Set(differences.map(({ path }) => path.split(/[.[]/, 1)[0] ?? '')),
    ...(row.source === source ? [] : [`source (was ${row.source || 'none'})`]),
  ]
  return what.length === 0 ? undefined : { ...change, change: 'changed', what, differences }
}

/** A token must mean one issuer, whichever comes first. */
function findTwins(files: readonly NamedCatalogFile[], active: readonly IssuerRow[]): Mistake[] {
  const mistakes: Mistake[] = []
  const seen = new Set<string>()
  const tokens = (one: TokenIssuer) => JSON.stringify([one.issuer, one.audience])
  for (const { name: file, content } of files) {
    for (const [index, issuer] of content.token_issuers.entries()) {
      const path = `token_issuers[${index}]`
      if (seen.has(issuer.id)) {
        mistakes.push({ file, path: `${path}.id`, problem: `"${issuer.id}" appears twice` })
      }
      seen.add(issuer.id)
      const twin = active.find(
        ({ id, definition }) => id !== issuer.id && tokens(definition) === tokens(issuer),
      )
      if (!twin) continue
      const problem = `"${twin.id}" has the same issuer and audience`
      mistakes.push({ file, path: `${path}.audience`, problem })
    }
  }
  return mistakes
}
