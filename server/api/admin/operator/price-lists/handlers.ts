/** Price lists, their accounts, and the resulting prices. */
import type { z } from 'zod'
import { toPage } from '../../../../base/http/page.ts'
import { invalidField } from '../../../../base/lib/errors.ts'
import { assignPriceList } from '../../../../money/accounts/assign-price-list.ts'
import { showAccount } from '../../../../money/accounts/manage-accounts.ts'
import { selectPayer } from '../../../../money/accounts/price-list-store.ts'
import {
  clearOwnPrices,
  editList,
  type ListEdit,
  retireList,
  setOwnPrices,
} from '../../../../money/catalog/apply/edit-lists.ts'
import { BASE } from '../../../../money/catalog/list.ts'
import { showPrice } from '../../../../money/catalog/lists/show-prices.ts'
import { switchList } from '../../../../money/catalog/lists/switch-list.ts'
import { chainOf } from '../../../../money/catalog/load/load-lists.ts'
import { type LoadedPrices, loadPrices } from '../../../../money/catalog/load/load-prices.ts'
import { revisionOfList } from '../../../../money/catalog/revisions.ts'
import type { ModelRow } from '../../../../money/catalog/store.ts'
import type { ChecksOf, HandlersOf } from '../../handler.ts'
import { conflict, refuseAs, withOperatorErrors } from '../../operator-failure.ts'
import { preconditionsOf } from '../../preconditions.ts'
import { found, noSuch } from '../../refusal.ts'
import type { AdminServices } from '../../services.ts'
import { LISTS_SHOWN_MAX, type operatorPriceListsContract } from './contract.ts'
import { selectList, selectListPage, selectOwnPrices } from './store.ts'

type Contract = typeof operatorPriceListsContract
type Draft = z.output<Contract['PUT /operator/price-lists/:list_id']['body']>
type OwnDraft = z.output<Contract['PUT /operator/accounts/:account_id/prices']['body']>

function saveList(edit: ListEdit, id: string, { currency, ...members }: Draft) {
  return withOperatorErrors(editList(edit, currency, { ...members, id }))
}

async function saveOwn(edit: ListEdit, accountId: string, definition: OwnDraft) {
  const account = await findAccount(edit.sql, accountId)
  return await withOperatorErrors(setOwnPrices(edit, account, definition))
}

function findAccount(sql: AdminServices['sql'], id: string) {
  return refuseAs(showAccount(sql, id), () => noSuch('account'))
}

async function readList({ sql }: AdminServices, id: string) {
  const { definition, ...row } = found(await selectList(sql, id), 'price list')
  const revision = revisionOfList(row.status === 'active' ? definition : undefined)
  return { ...row, ...definition, revision }
}

interface OfModels {
  readonly type?: string | undefined
  readonly search?: string | undefined
  readonly at?: Date | undefined
  readonly cursor?: string | undefined
  readonly limit: number
  readonly below_cost: boolean
}

async function loadAt({ sql }: AdminServices, { at }: OfModels): Promise<LoadedPrices> {
  const loaded = await loadPrices(sql, at)
  if (at && at.getTime() < loaded.snapshot.pricedAtMs) {
    throw invalidField('at', 'must be in the future: usage records have the prices of the past')
  }
  return loaded
}

/** Returns one page of models. `show` finds those with a price below cost. */
function pageOf<Row extends { readonly model: string }>(
  { rows }: LoadedPrices,
  { type, search = '', cursor = '', limit, below_cost: isBelow }: OfModels,
  show: (row: ModelRow) => Row & { readonly is_below_cost: boolean },
) {
  const candidates = [...rows.values()]
    .filter((row) => row.id > cursor && (type === undefined || row.type === type))
    .filter(({ id }) => id.toLowerCase().includes(search.toLowerCase()))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
  const shown: Row[] = []
  for (const row of candidates) {
    if (shown.length > limit) break
    const one = show(row)
    if (!isBelow || one.is_below_cost) shown.push(one)
  }
  return toPage(shown, limit, 'model')
}

/** Returns the lists to compare. Throws 400 for one that does not exist. */
async function readLists({ sql }: AdminServices, loaded: LoadedPrices, names: string | undefined) {
  if (names === undefined) {
    const query = { own: false, retired: false, limit: LISTS_SHOWN_MAX }
    const first = (await selectListPage(sql, query)).map(({ id }) => id)
    return [BASE, ...first].slice(0, LISTS_SHOWN_MAX)
  }
  const ids = [...new Set(names.split(',').map((id) => id.trim()))].filter((id) => id !== '')
  if (ids.length > LISTS_SHOWN_MAX) throw invalidField('lists', `at most ${LISTS_SHOWN_MAX}`)
  const missing = ids.find((id) => id !== BASE && !loaded.snapshot.lists.has(id))
  if (missing !== undefined) throw invalidField('lists', `there is no price list "${missing}"`)
  return ids
}

/** Shows a model on a list; the base prices of a model are in its own currency. */
function showOn(loaded: LoadedPrices, row: ModelRow, id: string) {
  const list = loaded.snapshot.lists.get(id)
  const currency = list?.currency ?? loaded.snapshot.models.get(row.id)?.currency ?? ''
  const { model: _, ...shown } = showPrice(loaded, row, { currency, priceList: list?.id ?? null })
  return { price_list: id, ...shown }
}

export const operatorPriceListsChecks: ChecksOf<
  Contract,
  'PUT /operator/price-lists/:list_id' | 'PUT /operator/accounts/:account_id/prices'
> = {
  'PUT /operator/price-lists/:list_id': ({ context, params, body }, { sql }) =>
    saveList({ sql, dryRun: true, ...preconditionsOf(context) }, params.list_id, body),
  'PUT /operator/accounts/:account_id/prices': ({ context, params, body }, { sql }) =>
    saveOwn({ sql, dryRun: true, ...preconditionsOf(context) }, params.account_id, body),
}

export const operatorPriceListsHandlers: HandlersOf<Contract> = {
  async 'GET /operator/price-lists'({ query }, { sql }) {
    return toPage(await selectListPage(sql, query), query.limit, 'id')
  },

  async 'GET /operator/price-lists/:list_id'({ params }, services) {
    return await readList(services, params.list_id)
  },

  async 'PUT /operator/price-lists/:list_id'({ context, params, body, note }, services) {
    const { sql } = services
    const edit = { sql, ...preconditionsOf(context) }
    const { changes, warnings } = await saveList(edit, params.list_id, body)
    note({
      changes: changes.flatMap(({ change, what }) => (what.length > 0 ? what : [change])),
      differences: changes.flatMap(({ differences = [] }) => differences),
    })
    await services.catalog.refresh()
    return { ...(await readList(services, params.list_id)), warnings }
  },

  async 'DELETE /operator/price-lists/:list_id'({ params }, { sql, catalog }) {
    if (!(await refuseAs(retireList(sql, params.list_id), conflict))) throw noSuch('price list')
    await catalog.refresh()
  },

  async 'GET /operator/prices'({ query }, services) {
    const loaded = await loadAt(services, query)
    const lists = await readLists(services, loaded, query.lists)
    return pageOf(loaded, query, (row) => {
      const prices = lists.map((id) => showOn(loaded, row, id))
      const isBelow = prices.some((one) => one.is_below_cost)
      return { model: row.id, type: row.type, prices, is_below_cost: isBelow }
    })
  },

  async 'GET /operator/accounts/:account_id/prices'({ params, query }, services) {
    const { sql } = services
    const { price_list: priceList } = await findAccount(sql, params.account_id)
    const payer = found(await selectPayer(sql, params.account_id), 'account')
    const loaded = await loadAt(services, query)
    const page = pageOf(loaded, query, (row) => {
      return { type: row.type, ...showPrice(loaded, row, payer) }
    })
    const chain = chainOf(loaded.snapshot, payer.priceList).map(({ id }) => id)
    const own = await selectOwnPrices(sql, params.account_id)
    return {
      ...page,
      currency: payer.currency,
      price_list: priceList,
      lists: [...chain, BASE],
      own: own ?? null,
      own_revision: revisionOfList(own),
    }
  },

  async 'PUT /operator/accounts/:account_id/prices'({ context, params, body, note }, services) {
    const { account_id: id } = params
    const edit = { sql: services.sql, ...preconditionsOf(context) }
    const { changes, warnings } = await saveOwn(edit, id, body)
    note({ ...body, differences: changes.flatMap(({ differences = [] }) => differences) })
    await services.catalog.refresh()
    return { ...found(await selectOwnPrices(services.sql, id), 'account'), warnings }
  },

  async 'DELETE /operator/accounts/:account_id/prices'({ params }, { sql, catalog }) {
    await findAccount(sql, params.account_id)
    if (!(await clearOwnPrices(sql, params.account_id))) throw noSuch('own price list')
    await catalog.refresh()
  },

  async 'PUT /operator/accounts/:account_id/price-list'({ params, body, session, note }, services) {
    const { sql } = services
    const { account_id: id } = params
    const { price_list: before } = await findAccount(sql, id)
    note({ price_list: body.price_list, before: { price_list: before } })
    await refuseAs(
      switchList(sql, (transaction) => {
        return assignPriceList(transaction, id, body.price_list, session.user.email)
      }),
      ({ message }) => invalidField('price_list', message),
    )
    await services.catalog.refresh()
    return await findAccount(sql, id)
  },
}
