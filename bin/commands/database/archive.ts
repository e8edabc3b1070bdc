/** `tributary archive …`: moves the calls of old months to the object store and reads them back. */
import { type Command, InvalidArgumentError } from 'commander'
import { OperatorError } from '../../../server/base/lib/operator-error.ts'
import { archiveMonth, checkMonth, listMonths } from '../../../server/work/archive/archive-month.ts'
import {
  countHolds,
  readFirstHold,
  selectArchives,
} from '../../../server/work/archive/archive-store.ts'
import { findArchived, readMonthLines } from '../../../server/work/archive/find-record.ts'
import { type Month, monthsBefore, readMonth } from '../../../server/work/archive/months.ts'
import { readStated, verifyMonth } from '../../../server/work/archive/verify-archives.ts'
import { namingStorage, openArchives, placeOfStorage } from '../../lib/open-archives.ts'
import { printJson, printTable, printTime } from '../../lib/print.ts'
import { recordingRun } from '../../lib/record-run.ts'
import { type CommandSession, recordAct, withSession } from '../../lib/session.ts'

interface CreateFlags {
  readonly month?: Month
  readonly olderThan?: number
  readonly dryRun?: boolean
  readonly json?: boolean
}

interface VerifyFlags {
  readonly month?: Month
  readonly json?: boolean
}

export function addArchiveCommands(program: Command): void {
  const archive = program
    .command('archive')
    .description('move the calls of old months to the object store, and read them back')
  archive
    .command('create')
    .description('archive months: write, read back and verify, then remove from the database')
    .option('--month <month>', 'this month (UTC), such as 2030-01', monthOption)
    .option('--older-than <months>', 'all months that ended at least this long ago: 12m', ageOption)
    .option('--dry-run', 'only list what would be archived')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
Safe beside running gateways and after a kill: run it again to go on. A month can be archived 35
days after its end, when all of its holds are closed; with --older-than one that cannot is named,
the others are archived, and the exit code is 1. Balances and figures stay exact. Needs the settings
of the gateway: calls go to S3_BUCKET, or to DATA_DIR/files without an object store.

Examples:
  tributary archive create --month 2030-01
  tributary archive create --older-than 12m --dry-run`,
    )
    .action(create)
  archive
    .command('list')
    .description('list archived months')
    .option('--json', 'as JSON')
    .action(list)
  archive
    .command('verify')
    .description(
      'read archives again: checksums, sums and sealed entries; exit code 1 if one differs',
    )
    .option('--month <month>', 'only this month', monthOption)
    .option('--json', 'as JSON')
    .action(verify)
  archive
    .command('show <request>')
    .description('print one archived call with its hold and ledger entries, as JSON')
    .action(show)
  archive
    .command('read')
    .description('print all archived calls of a month, one JSON document per line')
    .requiredOption('--month <month>', 'month (UTC)', monthOption)
    .action(read)
}

async function create(flags: CreateFlags): Promise<void> {
  if ((flags.month === undefined) === (flags.olderThan === undefined)) {
    throw new OperatorError('name either --month or --older-than')
  }
  await withSession(async (session) => {
    const months = await chooseMonths(session, flags)
    if (flags.dryRun) return await describeMonths(session, months, flags)
    const run = { command: 'archive', place: placeOfStorage(session.config) } as const
    const archived = await recordingRun(session.sql, run, () => archiveAll(session, months, flags))
    if (flags.json) return printJson(archived)
    for (const one of archived) {
      if ('refused' in one) continue
      const { month, holds, objects } = one
      console.log(
        `${month}: ${holds} calls archived, in ${objects} object${objects === 1 ? '' : 's'}.`,
      )
    }
    if (archived.length === 0) console.log('There is nothing to archive.')
  })
}

async function archiveAll(session: CommandSession, months: readonly Month[], flags: CreateFlags) {
  const archived = []
  for (const month of months) {
    archived.push(await orRefused(month, flags, archiveOne(session, month)))
  }
  return archived
}

interface Refused {
  readonly month: string
  readonly refused: string
}

/** Reports a month that cannot be archived, so that the later ones are; rejects if it was named. */
async function orRefused<T>(
  { name }: Month,
  { month }: CreateFlags,
  work: Promise<T>,
): Promise<T | Refused> {
  try {
    return await work
  } catch (error) {
    if (month || !(error instanceof OperatorError)) throw error
    console.error(`tributary: ${error.message}`)
    process.exitCode = 1
    return { month: name, refused: error.message }
  }
}

async function chooseMonths({ sql }: CommandSession, flags: CreateFlags): Promise<Month[]> {
  if (flags.month) return [flags.month]
  const { now } = await readFirstHold(sql)
  return await listMonths(sql, monthsBefore(now, flags.olderThan ?? 0))
}

async function describeMonths(
  { sql }: CommandSession,
  months: readonly Month[],
  flags: CreateFlags,
): Promise<void> {
  const rows = []
  for (const month of months) {
    const calls = Number((await countHolds(sql, month)).holds)
    const checked = await orRefused(month, flags, checkMonth(sql, month))
    const refused = typeof checked === 'bigint' ? {} : { refused: checked.refused }
    rows.push({ month: month.name, calls, ...refused })
  }
  if (flags.json) return printJson(rows)
  printTable(
    rows,
    [
      { title: 'month', cell: ({ month }) => month },
      { title: 'calls', cell: ({ calls }) => calls, right: true },
    ],
    'There is nothing to archive.',
  )
}

async function archiveOne({ sql, config }: CommandSession, month: Month) {
  const onProgress = (message: string) => console.error(`… ${message}`)
  const blobs = openArchives(sql, config)
  const archived = await namingStorage(config, () =>
    archiveMonth(month, { sql, blobs, onProgress }),
  )
  if (archived.holds > 0) {
    const { holds, objects } = archived
    await recordAct(sql, 'archive create', { target: month.name }, { calls: holds, objects })
  }
  return archived
}

async function list(options: { readonly json?: boolean }): Promise<void> {
  const rows = await withSession(({ sql }) => selectArchives(sql))
  if (options.json) {
    return printJson(
      rows.map(({ after_id: _, end_id: __, manifest_sha256, ...row }) => ({
        ...row,
        holds: Number(row.holds),
        entries: Number(row.entries),
        bytes: Number(row.bytes),
        manifest_sha256: manifest_sha256?.toString('hex') ?? null,
      })),
    )
  }
  printTable(
    rows,
    [
      { title: 'month', cell: ({ month }) => month },
      { title: 'calls', cell: ({ holds }) => String(holds), right: true },
      { title: 'entries', cell: ({ entries }) => String(entries), right: true },
      { title: 'objects', cell: ({ objects }) => objects, right: true },
      { title: 'MB', cell: ({ bytes }) => (Number(bytes) / 1e6).toFixed(1), right: true },
      { title: 'archived', cell: ({ finished_at: at }) => printTime(at) || 'not complete' },
      { title: 'manifest', cell: ({ manifest_key: key }) => key ?? '' },
    ],
    'No month is archived.',
  )
}

async function verify({ month, json }: VerifyFlags): Promise<void> {
  const months = await withSession(async ({ sql, config }) => {
    const storage = openArchives(sql, config)
    const verified = []
    for (const stated of await readStated(sql, month?.name)) {
      verified.push(await verifyMonth(sql, storage, stated))
    }
    return verified
  })
  if (months.some(({ problems }) => problems.length > 0)) process.exitCode = 1
  if (json) return printJson(months)
  printTable(
    months,
    [
      { title: 'month', cell: (one) => one.month },
      { title: 'objects', cell: ({ objects }) => objects, right: true },
      { title: 'calls', cell: ({ holds }) => holds, right: true },
      { title: 'entries', cell: ({ entries }) => entries, right: true },
      { title: '', cell: ({ problems }) => (problems.length === 0 ? 'ok' : 'DIFFERS') },
    ],
    'No month is archived.',
  )
  for (const { month: name, problems } of months) {
    for (const problem of problems) console.log(`${name}  ${problem}`)
  }
}

async function show(requestId: string): Promise<void> {
  const record = await withSession(({ sql, config }) =>
    findArchived(sql, openArchives(sql, config), requestId),
  )
  if (!record) throw new OperatorError(`${requestId} is not archived`)
  printJson(record)
}

async function read({ month }: { readonly month: Month }): Promise<void> {
  await withSession(async ({ sql, config }) => {
    await readStated(sql, month.name)
    for await (const text of readMonthLines(sql, openArchives(sql, config), month.name)) {
      process.stdout.write(text)
    }
  })
}

function monthOption(text: string): Month {
  try {
    return readMonth(text)
  } catch {
    throw new InvalidArgumentError('Write a month such as 2030-01.')
  }
}

function ageOption(text: string): number {
  const [, months, unit] = /^(\d{1,3})(m|y)$/.exec(text) ?? []
  if (months === undefined) throw new InvalidArgumentError('Write months such as 12m, or 1y.')
  return Number(months) * (unit === 'y' ? 12 : 1)
}
