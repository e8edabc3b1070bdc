/** Single changes of price lists, and an account's own prices: a list for it alone. */
import type { Sql, TransactionSql } from 'postgres'
import { OperatorError } from '../../../base/lib/operator-error.ts'
import type { PriceListRow } from '../list.ts'
import { findOwnList, notifyAccount, selectLists } from '../lists/list-store.ts'
import { expectRevision, revisionOfList } from '../revisions.ts'
import { bumpRevision, isActive, lockCatalog } from '../store.ts'
import { applyLists, derivePrices } from './apply-lists.ts'
import type { CatalogChange } from './change.ts'
import { CatalogError, type NamedCatalogFile, parseCatalogFile } from './file.ts'

const SOURCE = 'console'
const REQUEST = 'the request'

export interface ListEdit {
  readonly sql: Sql
  /** Checks the change and writes nothing. */
  readonly dryRun?: boolean
  /** The list must be new: a name in use is a mistake. */
  readonly isNew?: boolean
  /** The list must have this revision: another one is a ChangedEntry. */
  readonly revision?: string
}

export interface EditedLists {
  readonly changes: readonly CatalogChange[]
  /** Prices below cost among those that changed. */
  readonly warnings: readonly string[]
}

type Draft = Readonly<Record<string, unknown>> & { readonly id: string }

/**
 * Creates a list or replaces its contents; `list` has the members of a list in a catalog file.
 * Throws CatalogError with the path of each mistake.
 */
export async function editList(edit: ListEdit, currency: string, list: Draft) {
  return await change(edit, [fileOf(currency, list)])
}

/**
 * Replaces the own prices of an account; `definition` has the members of a list in a catalog file:
 * `default`, `prices` and `planned_prices`. Throws CatalogError with the path of each mistake.
 */
export async function setOwnPrices(
  edit: ListEdit,
  { id: account, currency }: { readonly id: string; readonly currency: string },
  definition: Readonly<Record<string, unknown>>,
): Promise<EditedLists> {
  const id = (await findOwnList(edit.sql, account)) ?? `own:${account}`
  return await change(edit, [fileOf(currency, { ...definition, id, account, currency })])
}

/** Removes them, so that the account's price list applies again. Returns whether it had any. */
export async function clearOwnPrices(sql: Sql, accountId: string): Promise<boolean> {
  const { changes } = await change({ sql }, [], (row) => row.account_id === accountId)
  return changes.length > 0
}

/**
 * Retires a list. Returns false if it is not active. Throws OperatorError while an account or
 * another list has it.
 */
export async function retireList(sql: Sql, id: string): Promise<boolean> {
  try {
    return (await change({ sql }, [], (row) => row.id === id)).changes.length > 0
  } catch (error) {
    if (!(error instanceof CatalogError)) throw error
    throw new OperatorError(error.mistakes.map(({ problem }) => problem).join('\n'))
  }
}

function fileOf(currency: string, list: Draft): NamedCatalogFile {
  // Input from the network must not read the process's environment variables.
  const file = parseCatalogFile(REQUEST, JSON.stringify({ currency, price_lists: [list] }), {})
  return { ...file, source: `${SOURCE}:${list.id}` }
}

/** Thrown to roll back a dry run; carries its result. */
class DryRun extends Error {
  readonly edited: EditedLists

  constructor(edited: EditedLists) {
    super('dry run')
    this.edited = edited
  }
}

async function change(
  { sql, dryRun = false, isNew = false, revision }: ListEdit,
  files: readonly NamedCatalogFile[],
  isRetired: (row: PriceListRow) => boolean = () => false,
): Promise<EditedLists> {
  try {
    return await sql.begin(async (transaction) => {
      await lockCatalog(transaction)
      if (isNew) await refuseTaken(transaction, files)
      if (revision !== undefined) await refuseChanged(transaction, files, revision)
      const changes = await applyLists(transaction, files, isRetired)
      const { warnings } = await derivePrices(transaction, files)
      if (dryRun) throw new DryRun({ changes, warnings })
      if (changes.length === 0) return { changes, warnings: [] }
      await bumpRevision(transaction)
      await notifyOwners(transaction, changes)
      return { changes, warnings }
    })
  } catch (error) {
    if (error instanceof DryRun) return error.edited
    throw error
  }
}

/** Throws CatalogError for a list whose name an active one has. */
async function refuseTaken(sql: TransactionSql, files: readonly NamedCatalogFile[]): Promise<void> {
  const ids = new Set(files.flatMap(({ content }) => content.price_lists.map(({ id }) => id)))
  const taken = (await selectLists(sql)).find((row) => isActive(row) && ids.has(row.id))
  if (!taken) return
  const problem = `there is a price list "${taken.id}" already: choose another name`
  throw new CatalogError([{ file: REQUEST, path: 'price_lists[0].id', problem, isTaken: true }])
}

/** Throws ChangedEntry unless the list is as its editor has read it. */
async function refuseChanged(
  sql: TransactionSql,
  files: readonly NamedCatalogFile[],
  revision: string,
): Promise<void> {
  const [id] = files.flatMap(({ content }) => content.price_lists.map((list) => list.id))
  const now = (await selectLists(sql)).find((row) => row.id === id && isActive(row))
  expectRevision(revision, revisionOfList(now?.definition))
}

/** Keys name the own list of their account, so gateways look them up again. */
async function notifyOwners(sql: TransactionSql, changes: readonly CatalogChange[]): Promise<void> {
  const ids = new Set(changes.map(({ id }) => id))
  for (const { id, account_id: accountId } of await selectLists(sql)) {
    if (accountId !== null && ids.has(id)) await notifyAccount(sql, accountId)
  }
}
