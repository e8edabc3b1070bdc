/**
 * After the restore of an old backup, lists tasks that vendors have, and so bill, but this database
 * does not. Reads the list of every vendor that has one and names the others. Changes nothing.
 */
import type { Sql } from 'postgres'
import { TASK_KINDS, type TaskKind } from '../../../base/lib/kinds-and-states.ts'
import type { Quantities } from '../../../base/lib/units.ts'
import type { CatalogSnapshot, ModelType } from '../../../money/catalog/catalog.ts'
import { type TaskDriver, type TaskPoll, withChannel } from '../../../wire/upstreams/task-driver.ts'
import type { Upstream } from '../../../wire/upstreams/upstream.ts'
import type { Wire } from '../../../wire/upstreams/wire.ts'
import { knownUpstreamIds } from '../timeline-store.ts'

export interface UnknownTask {
  readonly channel: string
  readonly upstream_model: string
  readonly upstream_id: string
  readonly created_at: Date
  /** The vendor's current state. */
  readonly state: TaskPoll['state'] | 'unreadable'
  /** The usage that the vendor states. */
  readonly usage: Quantities | undefined
}

/** A channel and model that could not be checked, and why. */
export interface UncheckedPlace {
  readonly channel: string
  readonly upstream_model: string
  readonly reason: string
}

export interface UnknownTasks {
  readonly tasks: readonly UnknownTask[]
  readonly unasked: readonly UncheckedPlace[]
}

interface Place {
  readonly channel: string
  readonly upstreamModel: string
  readonly settings: unknown
  readonly driver: TaskDriver
}

/** Finds unknown tasks. Uses `wire` for reads only. */
export async function findUnknownTasks(parts: {
  readonly sql: Sql
  readonly catalog: CatalogSnapshot
  readonly upstreams: ReadonlyMap<string, Upstream>
  readonly wire: Wire
  readonly since: Date
}): Promise<UnknownTasks> {
  const { sql, catalog, upstreams, wire, since } = parts
  const tasks: UnknownTask[] = []
  const unasked: UncheckedPlace[] = []
  for (const place of listPlaces(catalog, upstreams)) {
    const { channel, upstreamModel: upstream_model } = place
    try {
      const unknown = await findAt(sql, wire, place, since)
      if (unknown) tasks.push(...unknown)
      else unasked.push({ channel, upstream_model, reason: 'the vendor has no list' })
    } catch (error) {
      unasked.push({
        channel,
        upstream_model,
        reason: error instanceof Error ? error.message : String(error),
      })
    }
  }
  return { tasks, unasked }
}

/** Returns every upstream model of every channel with a task driver, once. */
function listPlaces(
  { models, channels }: CatalogSnapshot,
  upstreams: ReadonlyMap<string, Upstream>,
): readonly Place[] {
  const places = new Map<string, Place>()
  for (const { type, routes } of models.values()) {
    for (const { channel, upstreamModel } of routes) {
      const target = channels.get(channel)
      const drivers = target && upstreams.get(target.upstream)?.tasks
      const driver =
        drivers &&
        kindsOf(type)
          .map((kind) => drivers[kind])
          .find(Boolean)
      if (!target || !driver) continue
      const { settings } = target
      const own = withChannel(driver, settings)
      places.set(`${channel} ${upstreamModel}`, { channel, upstreamModel, settings, driver: own })
    }
  }
  return [...places.values()]
}

/** Older catalogs have erasers of the type `video`. */
function kindsOf(type: ModelType): readonly TaskKind[] {
  return TASK_KINDS.filter((kind) => kind === type || (kind === 'erase' && type === 'video'))
}

/** Returns the unknown tasks of one place; undefined if the vendor has no list. */
async function findAt(
  sql: Sql,
  wire: Wire,
  { channel, upstreamModel, settings, driver }: Place,
  since: Date,
): Promise<readonly UnknownTask[] | undefined> {
  const listed = await driver.list?.(wire, { settings, upstreamModel, since })
  if (!listed) return undefined
  const ids = listed.map(({ upstreamId }) => upstreamId)
  const known = await knownUpstreamIds(sql, channel, ids)
  const tasks: UnknownTask[] = []
  for (const { upstreamId, createdAt } of listed) {
    if (known.has(upstreamId)) continue
    const reference = { settings, upstreamModel, upstreamId }
    const polled = await driver.poll(wire, reference).catch(() => undefined)
    tasks.push({
      channel,
      upstream_model: upstreamModel,
      upstream_id: upstreamId,
      created_at: createdAt,
      state: polled?.state ?? 'unreadable',
      usage: polled?.state === 'succeeded' ? (polled.usage ?? polled.measured) : undefined,
    })
  }
  return tasks
}
