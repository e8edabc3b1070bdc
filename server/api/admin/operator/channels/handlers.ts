/** Channels as operators configure them; secrets are written but never returned. */

import type { z } from 'zod'
import { formatAmount } from '../../../../base/lib/money.ts'
import { testChannel } from '../../../../base/outbound/test-channel.ts'
import {
  type EditOptions,
  editChannel,
  retireChannel,
  switchChannel,
} from '../../../../money/catalog/apply/edit.ts'
import {
  listSimulators,
  retireSimulators,
} from '../../../../money/catalog/apply/retire-simulators.ts'
import { describeChannel, listChannelSummaries } from '../../../../money/catalog/describe.ts'
import { revisionOfChannel } from '../../../../money/catalog/revisions.ts'
import { type ChannelUse, nameFailure, stateOfUse } from '../../../../money/usage/channel-use.ts'
import type { CapFigures } from '../../../../work/pipeline/load/channel-spending.ts'
import { probeOf, readVendorModels } from '../../../../work/pipeline/send/probe-channel.ts'
import { endpointsOf } from '../../../../work/pipeline/send/probe-endpoints.ts'
import { describeRequest } from '../../../endpoints/reference/json-schema.ts'
import type { ChecksOf, HandlersOf } from '../../handler.ts'
import { conflict, refuseAs, withOperatorErrors } from '../../operator-failure.ts'
import { preconditionsOf } from '../../preconditions.ts'
import { noSuch } from '../../refusal.ts'
import type { AdminServices } from '../../services.ts'
import { editOptions } from '../edit-options.ts'
import { readUses } from './channel-uses.ts'
import type { operatorChannelsContract } from './contract.ts'
import { countOpenTasks } from './store.ts'

type Summary = Awaited<ReturnType<typeof listChannelSummaries>>[number]

async function createDescriber(services: AdminServices) {
  const { sql, catalog, health, spending } = services
  const [openTasks, uses] = await Promise.all([countOpenTasks(sql), readUses(services)])
  const cooldowns = new Map(health.coolingDown().map(({ channel, forMs }) => [channel, forMs]))
  const { channels, models } = catalog.snapshot()
  return (summary: Summary) => {
    const { id } = summary
    const forMs = cooldowns.get(id)
    const channel = channels.get(id)
    const caps = channel ? spending.figures(channel) : []
    const use = uses(id)
    const users = [...models.values()].filter((one) => one.routes.some((r) => r.channel === id))
    return {
      ...summary,
      health: {
        ...describeState(summary, { isUsable: channel !== undefined, forMs, caps, use }),
        cooldown_seconds: forMs === undefined ? null : Math.ceil(forMs / 1000),
        last_success: use.succeededAt ?? null,
        failing_since: use.failingSince ?? null,
        last_error: showError(health.lastError(id)),
      },
      spending: caps.map(showCap),
      models: users.map((one) => one.id),
      open_tasks: openTasks.get(id) ?? 0,
    }
  }
}

interface Condition {
  readonly isUsable: boolean
  readonly forMs: number | undefined
  readonly caps: readonly CapFigures[]
  readonly use: ChannelUse
}

function describeState(summary: Summary, { isUsable, forMs, caps, use }: Condition) {
  if (summary.status === 'retired') return { state: 'unusable', reason: 'retired' } as const
  if (summary.paused_at) return { state: 'paused', reason: 'paused by an operator' } as const
  if (!isUsable) {
    const reason = 'its settings cannot be used here: test it to see why'
    return { state: 'unusable', reason } as const
  }
  const reached = caps.find(({ isReached }) => isReached)
  if (reached) return { state: 'over_cap', reason: describeCap(reached) } as const
  const failure = use.failure ? nameFailure(use.failure) : null
  if (forMs === undefined) return { state: stateOfUse(use), reason: failure }
  const reason = failure ?? 'several calls in a row failed, or the vendor asked for a pause'
  return { state: 'cooling_down', reason } as const
}

function describeCap({ period, capNanos, currency }: CapFigures): string {
  const cap = `${formatAmount(capNanos)} ${currency} per ${period}`
  const until = endOf(period, new Date()).toISOString()
  return `its spending cap of ${cap} is reached: no new calls until ${until}, or until it is raised`
}

function showCap({ period, currency, spentNanos, capNanos }: CapFigures) {
  return {
    period,
    currency,
    spent: spentNanos,
    cap: capNanos,
    resets_at: endOf(period, new Date()),
  }
}

function endOf(period: CapFigures['period'], now: Date): Date {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  return new Date(period === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1))
}

function showError(error: ReturnType<AdminServices['health']['lastError']>) {
  if (!error) return null
  return { ...error, status: error.status ?? null, message: error.message ?? null }
}

/** Pauses, resumes or wakes a channel, here at once and in other gateways within seconds. */
async function switchAndShow(
  services: AdminServices,
  id: string,
  action: Parameters<typeof switchChannel>[2],
) {
  await refuseAs(switchChannel(services.sql, id, action), () => noSuch('channel'))
  await services.catalog.refresh()
  return showChannel(services, id)
}

async function showChannel(services: AdminServices, id: string) {
  const { sql, secrets, upstreams } = services
  const row = await refuseAs(describeChannel(sql, secrets, id), () => noSuch('channel'))
  const describe = await createDescriber(services)
  const secretNames = upstreams.get(row.upstream)?.secrets ?? []
  const revision = revisionOfChannel(row)
  return { ...describe(row), revision, settings: row.settings, secrets: secretNames }
}

/**
 * Returns a channel as calls use it, read again. If it cannot be used, it has a `problem` in place
 * of settings.
 */
async function openChannel(services: AdminServices, id: string) {
  await showChannel(services, id)
  await services.catalog.refresh()
  const { settings, upstream = '' } = services.catalog.snapshot().channels.get(id) ?? {}
  const problem = services.catalog.problemOf(id)
  return { settings, upstream: services.upstreams.get(upstream), problem }
}

export const operatorChannelsChecks: ChecksOf<
  typeof operatorChannelsContract,
  'PUT /operator/channels/:channel_id'
> = {
  'PUT /operator/channels/:channel_id': ({ context, params, body }, services) =>
    saveChannel(
      { ...editOptions(services), dryRun: true, ...preconditionsOf(context) },
      params.channel_id,
      body,
    ),
}

type Draft = z.output<
  (typeof operatorChannelsContract)['PUT /operator/channels/:channel_id']['body']
>

function saveChannel(options: EditOptions, id: string, { upstream, settings }: Draft) {
  return withOperatorErrors(editChannel(options, { id, upstream, settings }))
}

export const operatorChannelsHandlers: HandlersOf<typeof operatorChannelsContract> = {
  async 'GET /operator/upstreams'(_input, { upstreams }) {
    const data = [...upstreams.values()].map((upstream) => ({
      name: upstream.name,
      settings_schema: { ...describeRequest(upstream.settings) },
      secrets: upstream.secrets,
      serves: [...Object.keys(upstream.calls), ...Object.keys(upstream.tasks ?? {})],
      lists_models: upstream.listModels !== undefined,
    }))
    return { data }
  },

  async 'GET /operator/channels'({ query }, services) {
    const describe = await createDescriber(services)
    const rows = await listChannelSummaries(services.sql, query.retired)
    return { data: rows.map(describe) }
  },

  'GET /operator/channels/:channel_id': ({ params }, services) =>
    showChannel(services, params.channel_id),

  async 'PUT /operator/channels/:channel_id'({ context, params, body, note }, services) {
    const { channel_id: id } = params
    const diff = await saveChannel(
      { ...editOptions(services), ...preconditionsOf(context) },
      id,
      body,
    )
    note({
      changes: diff.changes.flatMap(({ what }) => what),
      differences: diff.changes.flatMap(({ differences = [] }) => differences),
    })
    await services.catalog.refresh()
    await services.spending.refresh()
    return showChannel(services, id)
  },

  async 'DELETE /operator/channels/:channel_id'({ params }, { sql, catalog }) {
    const retired = await refuseAs(retireChannel(sql, params.channel_id), conflict)
    if (!retired) throw noSuch('channel')
    await catalog.refresh()
  },

  async 'GET /operator/simulators'(_input, { sql, signIn }) {
    return { demo: signIn.parts.demo() !== undefined, ...(await listSimulators(sql)) }
  },

  async 'DELETE /operator/simulators'({ note }, { sql, catalog }) {
    const { channels, models } = await retireSimulators(sql)
    note({ channels: channels.length, models: models.length })
    await catalog.refresh()
  },

  async 'POST /operator/channels/:channel_id/test'({ params }, services) {
    const { settings, upstream, problem } = await openChannel(services, params.channel_id)
    const probe = probeOf(upstream, settings, services.dispatcher)
    const endpoints = endpointsOf(upstream, settings, services.dispatcher)
    const address = upstream?.address?.(settings)
    return testChannel({ settings, address, problem, probe, endpoints })
  },

  async 'GET /operator/channels/:channel_id/models'({ params }, services) {
    const { settings, upstream, problem } = await openChannel(services, params.channel_id)
    if (!upstream) return { ok: false, detail: problem ?? 'the channel is retired', models: [] }
    return readVendorModels(upstream, settings, services.dispatcher)
  },

  'POST /operator/channels/:channel_id/pause': ({ params }, services) =>
    switchAndShow(services, params.channel_id, 'pause'),

  'POST /operator/channels/:channel_id/resume': ({ params }, services) =>
    switchAndShow(services, params.channel_id, 'resume'),

  'POST /operator/channels/:channel_id/wake': ({ params }, services) =>
    switchAndShow(services, params.channel_id, 'wake'),
}
