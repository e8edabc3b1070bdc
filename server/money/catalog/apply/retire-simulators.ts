/**
 * Retires the entries that a demo leaves in the catalog when it is over: channels to simulators
 * that no longer run, and models that nothing else serves. Their history stays; the next demo
 * brings them back.
 */
import type { Sql, TransactionSql } from 'postgres'
import {
  bumpRevision,
  type ChannelRow,
  isActive,
  listChannels,
  lockCatalog,
  type ModelRow,
  retireChannels,
  retireModels,
  saveModel,
  selectModels,
} from '../store.ts'

/** A gateway whose channels all have such ids is a demo. */
export function isSimulator(channelId: string): boolean {
  return channelId.startsWith('sim-')
}

export interface SimulatorEntries {
  readonly channels: readonly string[]
  /** Models that only simulators serve. */
  readonly models: readonly string[]
  /** Models that lose routes to simulators and keep others. */
  readonly changed: readonly string[]
}

/** Lists the active channels of simulators and the models that they serve. */
export async function listSimulators(
  sql: Sql | TransactionSql,
  isOne: (channel: ChannelRow) => boolean = ({ id }) => isSimulator(id),
): Promise<SimulatorEntries> {
  const { channels, models, changed } = await find(sql, isOne)
  return { channels, models, changed: changed.map(({ id }) => id) }
}

/** Retires them. Returns what was retired and changed, which is nothing the second time. */
export async function retireSimulators(
  sql: Sql,
  isOne: (channel: ChannelRow) => boolean = ({ id }) => isSimulator(id),
): Promise<SimulatorEntries> {
  return await sql.begin(async (transaction) => {
    await lockCatalog(transaction)
    const { channels, models, changed } = await find(transaction, isOne)
    for (const model of changed) await saveModel(transaction, model)
    if (models.length > 0) await retireModels(transaction, models)
    if (channels.length > 0) await retireChannels(transaction, channels)
    if (channels.length + models.length > 0) await bumpRevision(transaction)
    return { channels, models, changed: changed.map(({ id }) => id) }
  })
}

/** Follows fallbacks: a model whose last stand-in is retired is retired as well. */
async function find(sql: Sql | TransactionSql, isOne: (channel: ChannelRow) => boolean) {
  const rows = (await listChannels(sql)).filter(isActive)
  const lost = new Set(rows.filter(isOne).map(({ id }) => id))
  const before = (await selectModels(sql)).filter(isActive)
  const retired = new Set<string>()
  const without = (model: ModelRow): ModelRow => ({
    ...model,
    routes: model.routes.filter(({ channel }) => !lost.has(channel)),
    fallbacks: model.fallbacks.filter((one) => !retired.has(one.model)),
  })
  const isAffected = (model: ModelRow) => {
    const { routes, fallbacks } = without(model)
    return routes.length < model.routes.length || fallbacks.length < model.fallbacks.length
  }
  let size = -1
  while (size < retired.size) {
    size = retired.size
    for (const model of before.filter(isAffected)) {
      const { routes, fallbacks } = without(model)
      if (routes.length + fallbacks.length === 0) retired.add(model.id)
    }
  }
  const changed = before.filter((model) => !retired.has(model.id) && isAffected(model)).map(without)
  return { channels: [...lost], models: [...retired], changed }
}
