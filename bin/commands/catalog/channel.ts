/** `tributary channel …`: shows channels, secrets masked; tests, pauses, resumes, wakes them. */
import type { Command } from 'commander'
import { createDispatcher } from '../../../server/app/open-outbound.ts'
import { switchChannel } from '../../../server/catalog/apply/edit.ts'
import { describeChannel, listChannelSummaries } from '../../../server/catalog/describe.ts'
import { openStoredChannel } from '../../../server/catalog/load/snapshot.ts'
import { listChannels } from '../../../server/catalog/store.ts'
import { openSecretBox } from '../../../server/config/secret-key-file.ts'
import { OperatorError } from '../../../server/lib/operator-error.ts'
import { testChannel } from '../../../server/outbound/test-channel.ts'
import { probeOf } from '../../../server/pipeline/send/probe-channel.ts'
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
    .action((options: JsonOption & { readonly all?: boolean }) =>
      withSession(async ({ sql }) => {
        const rows = await listChannelSummaries(sql, options.all ?? false)
        if (options.json) return printJson(rows)
        printTable(
          rows,
          [
            { title: 'id', cell: ({ id }) => id },
            { title: 'upstream', cell: ({ upstream }) => upstream },
            { title: 'status', cell: (row) => (row.paused_at ? 'paused' : row.status) },
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
        if (options.json) return printJson(found)
        const { settings, updated_at, paused_at, woken_at: _, ...fields } = found
        printFields({
          ...fields,
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

function addTest(channel: Command): void {
  channel
    .command('test <channel>')
    .description('check settings, address, connection and key; exits with 1 on a failure')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
The key is tried with a free request of the vendor, where it has one. The test runs in this
process: it sees this process’s environment variables and network, not those of a gateway.

Example:
  tributary channel test main`,
    )
    .action((id: string, options: JsonOption) =>
      withSession(async (session) => {
        const { ok, steps } = await runTest(session, id)
        if (!ok) process.exitCode = 1
        if (options.json) return printJson({ ok, steps })
        for (const { step, ok: passed, detail, milliseconds } of steps) {
          console.log(`${passed ? '✓' : '✗'} ${step.padEnd(10)}  ${detail} (${milliseconds} ms)`)
        }
      }),
    )
}

async function runTest({ sql, config }: CommandSession, id: string) {
  const row = (await listChannels(sql)).find((one) => one.id === id)
  if (!row) throw new OperatorError(`there is no channel ${id}`)
  const { UPSTREAMS } = await import('../../../server/upstreams/index.ts')
  const upstreams = Object.fromEntries(UPSTREAMS)
  const opened = openStoredChannel(row, { upstreams, secrets: openSecretBox(config) })
  if (!('settings' in opened)) {
    return await testChannel({ settings: undefined, problem: opened.problem, probe: undefined })
  }
  const dispatcher = createDispatcher(config)
  try {
    const probe = probeOf(UPSTREAMS.get(row.upstream), opened.settings, dispatcher)
    return await testChannel({ settings: opened.settings, problem: undefined, probe })
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
