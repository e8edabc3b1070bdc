/** `tributary channel …`: shows channels, secrets masked; tests, pauses, resumes, wakes them. */
import type { Command } from 'commander'
import { createDispatcher } from '../../../server/api/app/open-outbound.ts'
import { openSecretBox } from '../../../server/api/config/secret-key-file.ts'
import { OperatorError } from '../../../server/base/lib/operator-error.ts'
import { oneLine } from '../../../server/base/lib/text/one-line.ts'
import { testChannel } from '../../../server/base/outbound/test-channel.ts'
import { switchChannel } from '../../../server/money/catalog/apply/edit.ts'
import {
  type ChannelSummary,
  describeChannel,
  listChannelSummaries,
} from '../../../server/money/catalog/describe.ts'
import { openStoredChannel } from '../../../server/money/catalog/load/snapshot.ts'
import { listChannels } from '../../../server/money/catalog/store.ts'
import {
  type ChannelUse,
  nameFailure,
  stateOfUse,
  toUse,
} from '../../../server/money/usage/channel-use.ts'
import { readChannelUse, USE_DAYS } from '../../../server/money/usage/channel-use-store.ts'
import { probeOf } from '../../../server/work/pipeline/send/probe-channel.ts'
import { endpointsOf } from '../../../server/work/pipeline/send/probe-endpoints.ts'
import { printFields, printJson, printTable, printTime } from '../../lib/print.ts'
import { type CommandSession, recordAct, withSession } from '../../lib/session.ts'

interface JsonOption {
  readonly json?: boolean
}

export function addChannelCommands(program: Command): void {
  const channel = program
    .command('channel')
    .description('list, show, test, pause, resume and wake channels')
  channel
    .command('list')
    .description('list channels')
    .option('--all', 'include retired ones')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
LAST USE sums up the calls of the last 31 days in all gateways: none yet,
working, or failing since when and why. After repeated failures a gateway tries
a channel last for a while (a cooldown): the console and
GET /admin/v1/operator/channels show it.`,
    )
    .action((options: JsonOption & { readonly all?: boolean }) =>
      withSession(async ({ sql }) => {
        const uses = new Map((await readChannelUse(sql)).map((row) => [row.channel, toUse(row)]))
        const summaries = await listChannelSummaries(sql, options.all ?? false)
        const rows = summaries.map((row) => ({ ...row, use: uses.get(row.id) ?? {} }))
        if (options.json) return printJson(rows.map(toPrinted))
        printTable(
          rows,
          [
            { title: 'id', cell: ({ id }) => id },
            { title: 'upstream', cell: ({ upstream }) => upstream },
            { title: 'status', cell: (row) => (row.paused_at ? 'paused' : row.status) },
            { title: 'last use', cell: ({ use }) => describeUse(use) },
            { title: 'version', cell: ({ version }) => version, right: true },
            { title: 'source', cell: ({ source }) => source },
            { title: 'updated', cell: (row) => printTime(row.updated_at) },
          ],
          'There are no channels yet: tributary apply catalog/….json',
        )
      }),
    )
  channel
    .command('show <channel>')
    .description('show one channel with its settings, secrets masked')
    .option('--json', 'as JSON')
    .action((id: string, options: JsonOption) =>
      withSession(async ({ sql, config }) => {
        const found = await describeChannel(sql, openSecretBox(config), id)
        const use = toUse((await readChannelUse(sql)).find(({ channel: name }) => name === id))
        if (options.json) return printJson({ ...found, use: toPrinted({ ...found, use }).use })
        const { settings, updated_at, paused_at, woken_at: _, ...fields } = found
        printFields({
          ...fields,
          'last use': describeUse(use),
          paused: paused_at && printTime(paused_at),
          updated: printTime(updated_at),
          ...Object.fromEntries(
            Object.entries(settings).map(([name, value]) => [`  ${name}`, plain(value)]),
          ),
        })
      }),
    )
  addTest(channel)
  addSwitch(channel, 'pause', 'send no new calls and tasks to a channel; open tasks go on')
  addSwitch(channel, 'resume', 'send calls to a paused channel again')
  addSwitch(channel, 'wake', 'end the cooldown of a channel in every gateway')
}

type Listed = ChannelSummary & { readonly use: ChannelUse }

function toPrinted({ use, ...row }: Listed) {
  const { succeededAt = null, failingSince = null, failure } = use
  const reason = failure ? nameFailure(failure) : null
  const state = stateOfUse(use)
  return { ...row, use: { state, last_success: succeededAt, failing_since: failingSince, reason } }
}

/** Describes the last calls in all gateways; cooldowns are only in the memory of each gateway. */
function describeUse(use: ChannelUse): string {
  const { succeededAt = null, failingSince = null, failure } = use
  if (failingSince) {
    const reason = failure ? ` (${shorten(nameFailure(failure))})` : ''
    return `failing since ${printTime(failingSince)}${reason}`
  }
  return succeededAt
    ? `working, last success ${printTime(succeededAt)}`
    : `no call in ${USE_DAYS} days`
}

const REASON_SHOWN = 80

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ')
  return line.length > REASON_SHOWN ? `${line.slice(0, REASON_SHOWN)}…` : line
}

function addTest(channel: Command): void {
  channel
    .command('test <channel>')
    .description('check settings, address, connection and key; exits with 1 on a failure')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
The key is tried with a free request of the vendor, where it has one. The test
runs in this process: it sees this process’s environment variables and network,
not those of a gateway.

Example:
  tributary channel test main`,
    )
    .action((id: string, options: JsonOption) =>
      withSession(async (session) => {
        const { ok, steps } = await runTest(session, id)
        if (!ok) process.exitCode = 1
        if (options.json) return printJson({ ok, steps })
        for (const { step, ok: passed, detail, milliseconds } of steps) {
          console.log(
            `${passed ? '✓' : '✗'} ${step.padEnd(10)}  ${oneLine(detail)} (${milliseconds} ms)`,
          )
        }
      }),
    )
}

async function runTest({ sql, config }: CommandSession, id: string) {
  const row = (await listChannels(sql)).find((one) => one.id === id)
  if (!row) throw new OperatorError(`there is no channel ${id}`)
  const { UPSTREAMS } = await import('../../../server/wire/upstreams/index.ts')
  const upstreams = Object.fromEntries(UPSTREAMS)
  const opened = openStoredChannel(row, { upstreams, secrets: openSecretBox(config) })
  if (!('settings' in opened)) {
    return await testChannel({ settings: undefined, problem: opened.problem, probe: undefined })
  }
  const dispatcher = createDispatcher(config)
  try {
    const upstream = UPSTREAMS.get(row.upstream)
    const { settings } = opened
    const probe = probeOf(upstream, settings, dispatcher)
    const endpoints = endpointsOf(upstream, settings, dispatcher)
    const address = upstream?.address?.(settings)
    return await testChannel({ settings, address, problem: undefined, probe, endpoints })
  } finally {
    await dispatcher.destroy()
  }
}

function addSwitch(
  channel: Command,
  action: 'pause' | 'resume' | 'wake',
  description: string,
): void {
  channel
    .command(`${action} <channel>`)
    .description(description)
    .option('--json', 'as JSON')
    .action((id: string, options: JsonOption) =>
      withSession(async ({ sql }) => {
        await switchChannel(sql, id, action)
        await recordAct(sql, `POST /operator/channels/:channel_id/${action}`, { target: id })
        const found = (await listChannelSummaries(sql, false)).find((one) => one.id === id)
        if (options.json) return printJson(found)
        console.log(`${id}: ${DONE[action]}; gateways follow within seconds`)
      }),
    )
}

const DONE = { pause: 'paused', resume: 'resumed', wake: 'its cooldown ends' } as const

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
