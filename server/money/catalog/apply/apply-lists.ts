/** Applies the price lists of catalog files, and computes the prices of all lists. */
import type { TransactionSql } from 'postgres'
import { findDifferences } from '../../../base/lib/differences.ts'
import { formatPath } from '../environment.ts'
import { BASE, DEPTH_MAX, type ListDefinition, type PriceListRow } from '../list.ts'
import { type Derivation, deriveLists, UnderivableLists } from '../lists/derive.ts'
import { countUsers, retireLists, saveList, selectLists } from '../lists/list-store.ts'
import type { Mistake } from '../mistakes.ts'
import { checkPrices } from '../price/price-checks.ts'
import { isActive, type ModelRow, selectModels } from '../store.ts'
import type { CatalogChange } from './change.ts'
import { CatalogError, type NamedCatalogFile } from './file.ts'
import type { FileList } from './file-schema.ts'

/** A list of a file, with its position. */
interface NamedList {
  readonly file: string
  readonly path: string
  readonly list: Omit<PriceListRow, 'status'>
}

/**
 * Saves and retires lists. `derivePrices` computes their prices, once all their sources are
 * written. `isRetired` is true for stored lists that no file has. Throws CatalogError.
 */
export async function applyLists(
  sql: TransactionSql,
  files: readonly NamedCatalogFile[],
  isRetired: (row: PriceListRow) => boolean,
): Promise<CatalogChange[]> {
  const named = files.flatMap(listsOf)
  const stored = await selectLists(sql)
  if (named.length === 0 && stored.length === 0) return []
  const known = new Map(stored.map((row) => [row.id, row]))
  const retired = stored.filter((row) => row.status === 'active' && isRetired(row))
  const changes: CatalogChange[] = []
  refuse([...findContradictions(named, known), ...(await findWrongEntries(sql, named))])
  for (const { list } of inOrder(named)) {
    const row = known.get(list.id)
    const change = compare(row, list)
    if (!change) continue
    await saveList(sql, list)
    changes.push(change)
  }
  const ids = retired.map(({ id }) => id)
  if (ids.length > 0) await retireLists(sql, ids)
  refuse([
    ...findLostParents(named, (await selectLists(sql)).filter(isActive), files),
    ...(ids.length > 0 ? await findUsers(sql, ids, files) : []),
  ])
  return [
    ...changes,
    ...ids.map((id): CatalogChange => {
      return { kind: 'price_list', id, change: 'retired', what: [] }
    }),
  ]
}

function refuse(mistakes: readonly Mistake[]): void {
  if (mistakes.length > 0) throw new CatalogError(mistakes)
}

function listsOf({ name: file, source, content }: NamedCatalogFile): NamedList[] {
  return content.price_lists.map((list, index) => ({
    file,
    path: `price_lists[${index}]`,
    list: rowOf(list, list.source ?? source, list.currency ?? content.currency),
  }))
}

function rowOf(list: FileList, source: string, currency: string): Omit<PriceListRow, 'status'> {
  const { id, parent, account = null, default: rule, prices, planned_prices: plans = [] } = list
  const definition: ListDefinition = {
    ...(rule === undefined ? {} : { default: rule }),
    prices,
    ...(plans.length === 0 ? {} : { planned_prices: plans }),
  }
  const isNamed = account === null && parent !== BASE
  return {
    id,
    currency,
    parent: isNamed ? parent : null,
    account_id: account,
    source,
    definition: JSON.parse(JSON.stringify(definition)),
  }
}

function compare(
  row: PriceListRow | undefined,
  list: Omit<PriceListRow, 'status'>,
): CatalogChange | undefined {
  const change = { kind: 'price_list', id: list.id } as const
  if (!row) return { ...change, change: 'added', what: [] }
  const differences = findDifferences(row.definition, list.definition)
  const parts = differences.map(({ path }) => path.split(/[.[]/, 1)[0] ?? '')
  const what = [
    ...(row.status === 'retired' ? ['status'] : []),
    ...new Set(parts.map((part) => part.replace('_', ' '))),
    ...(row.source === list.source ? [] : [`source (was ${row.source || 'none'})`]),
  ]
  if (what.length === 0) return undefined
  return { ...change, change: 'changed', what, differences }
}

/** Parents before their children, as the table refers to them. */
function inOrder(named: readonly NamedList[]): NamedList[] {
  const byId = new Map(named.map((one) => [one.list.id, one]))
  const depthOf = ({ list }: NamedList): number => {
    const parent = list.parent === null ? undefined : byId.get(list.parent)
    return parent ? depthOf(parent) + 1 : 0
  }
  return named.toSorted((a, b) => depthOf(a) - depthOf(b))
}

/**
 * Finds duplicates, loops, chains that are too long, and changes of what never changes in a list.
 */
function findContradictions(
  named: readonly NamedList[],
  known: ReadonlyMap<string, PriceListRow>,
): Mistake[] {
  const mistakes: Mistake[] = []
  const seen = new Map<string, NamedList>()
  for (const one of named) {
    const { file, path, list } = one
    const row = known.get(list.id)
    const wrong = (member: string, problem: string) =>
      mistakes.push({ file, path: `${path}.${member}`, problem })
    const other = seen.get(list.id)
    if (other) wrong('id', `"${list.id}" is also ${other.file}: ${other.path}`)
    seen.set(list.id, one)
    if (row && row.currency !== list.currency) {
      wrong('currency', `${list.id} is in ${row.currency}, which never changes`)
    }
    if (row && row.account_id !== list.account_id) {
      wrong('account', `${list.id} is ${describeOwner(row)}, which never changes`)
    } else if (row && row.account_id === null && row.parent !== list.parent) {
      wrong('parent', `the parent of ${list.id} is ${row.parent ?? BASE}: create another list`)
    }
    const rival = findRival(list, named, known)
    if (rival !== undefined)
      wrong('account', `${list.account_id} already has its own list ${rival}`)
  }
  for (const one of named) {
    if (one.list.account_id !== null) continue
    const problem = judgeChain(one.list, seen, known)
    if (problem) mistakes.push({ file: one.file, path: `${one.path}.parent`, problem })
  }
  return mistakes
}

/** Returns another list of the same account, which has at most one of its own. */
function findRival(
  { id, account_id: account }: Omit<PriceListRow, 'status'>,
  named: readonly NamedList[],
  known: ReadonlyMap<string, PriceListRow>,
): string | undefined {
  if (account === null) return undefined
  const others = [...named.map(({ list }) => list), ...known.values()]
  return others.find((one) => one.account_id === account && one.id !== id)?.id
}

function describeOwner({ account_id: account }: PriceListRow): string {
  return account === null ? 'a list for several accounts' : `the list of ${account} alone`
}

function judgeChain(
  list: Omit<PriceListRow, 'status'>,
  named: ReadonlyMap<string, NamedList>,
  known: ReadonlyMap<string, PriceListRow>,
): string | undefined {
  const chain = [list.id]
  let { parent, currency } = list
  while (parent !== null) {
    if (chain.includes(parent)) return `the lists ${[...chain, parent].join(' → ')} form a loop`
    chain.push(parent)
    if (chain.length > DEPTH_MAX) {
      return `at most ${DEPTH_MAX} lists may refer to each other: ${chain.join(' → ')}`
    }
    const found: Omit<PriceListRow, 'status'> | undefined =
      named.get(parent)?.list ?? known.get(parent)
    if (!found) return `there is no price list "${parent}"`
    if (found.account_id !== null)
      return `"${parent}" is ${describeOwner({ ...found, status: 'active' })}`
    if (found.currency !== currency) {
      return `"${parent}" is in ${found.currency}, this list in ${currency}`
    }
    parent = found.parent
    currency = found.currency
  }
  return undefined
}

/** Finds entries of unknown models, and prices that do not fit the model's type. */
async function findWrongEntries(
  sql: TransactionSql,
  named: readonly NamedList[],
): Promise<Mistake[]> {
  if (named.length === 0) return []
  const rows = (await selectModels(sql)).filter(isActive)
  const models = new Map(rows.map((row) => [row.id, row]))
  return named.flatMap(({ file, path, list: { definition } }) => {
    const { planned_prices: plans = [] } = definition
    const wrong = (at: string, prices: ListDefinition['prices']) =>
      Object.entries(prices).flatMap(([id, entry]) => {
        return judgeEntry(models.get(id), id, entry).map(({ path: inside, problem }): Mistake => {
          return { file, path: `${at}.${id}${inside}`, problem }
        })
      })
    return [
      ...wrong(`${path}.prices`, definition.prices),
      ...plans.flatMap((plan, index) => {
        return wrong(`${path}.planned_prices[${index}].prices`, plan.prices)
      }),
    ]
  })
}

function judgeEntry(
  model: ModelRow | undefined,
  id: string,
  entry: ListDefinition['prices'][string],
): { path: string; problem: string }[] {
  if (!model) return [{ path: '', problem: `there is no model "${id}"` }]
  if (entry === 'hidden' || 'of' in entry) return []
  const found: { path: string; problem: string }[] = []
  checkPrices(model.type, entry, ['prices'], (path, problem) => {
    found.push({ path: formatPath(path).replace(/^prices/, ''), problem })
  })
  const namesClock = entry.some(({ when = {} }) => Object.hasOwn(when, 'clock'))
  if (namesClock && !model.details.peak_hours) {
    found.push({ path: '', problem: 'the model has no details.peak_hours for "clock"' })
  }
  return found
}

function findLostParents(
  named: readonly NamedList[],
  active: readonly PriceListRow[],
  files: readonly NamedCatalogFile[],
): Mistake[] {
  const ids = new Set(active.map(({ id }) => id))
  return active.flatMap(({ id, parent }) => {
    if (parent === null || ids.has(parent)) return []
    const own = named.find(({ list }) => list.id === id)
    const problem = `${parent} is still the parent of ${id}`
    return [
      {
        file: own?.file ?? files[0]?.name ?? '',
        path: own ? `${own.path}.parent` : 'price_lists',
        problem,
      },
    ]
  })
}

async function findUsers(
  sql: TransactionSql,
  ids: readonly string[],
  files: readonly NamedCatalogFile[],
): Promise<Mistake[]> {
  return (await countUsers(sql, ids)).map(({ id, accounts }) => {
    const who = accounts === 1 ? 'an account' : `${accounts} accounts`
    const problem = `${id} is still the list of ${who}: tributary account set … --price-list none`
    return { file: files[0]?.name ?? '', path: 'price_lists', problem }
  })
}

/** Computes the prices of all lists. Throws CatalogError for a rule without a result. */
export async function derivePrices(
  sql: TransactionSql,
  files: readonly NamedCatalogFile[],
): Promise<Derivation> {
  try {
    return await deriveLists(sql)
  } catch (error) {
    if (!(error instanceof UnderivableLists)) throw error
    throw new CatalogError(
      error.problems.map(({ list, model, problem }) => {
        const found = files.flatMap(listsOf).find((one) => one.list.id === list)
        const path = found ? `${found.path} (${list})` : `the price list "${list}"`
        return {
          file: (found?.file ?? files[0]?.name) || '',
          path,
          problem: `${model}: ${problem}`,
        }
      }),
    )
  }
}
