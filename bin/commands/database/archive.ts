/** `tributary archive …`: moves old months or weeks of calls to the object store and back. */
import { type Command, InvalidArgumentError } from 'commander'
import { OperatorError } from '../../../server/base/lib/operator-error.ts'
import {
  archivePeriod,
  checkPeriod,
  listPeriods,
} from '../../../server/work/archive/archive-period.ts'
import {
  countHolds,
  readFirstHold,
  selectArchives,
} from '../../../server/work/archive/archive-store.ts'
import { findArchived, readPeriodLines } from '../../../server/work/archive/find-record.ts'
import {
  type Age,
  type ArchivePeriod,
  readMonth,
  readWeek,
  timeBefore,
} from '../../../server/work/archive/periods.ts'
import { readStated, verifyPeriod } from '../../../server/work/archive/verify-archives.ts'
import { namingStorage, openArchives, placeOfStorage } from '../../lib/open-archives.ts'
import { printJson, printTable, printTime } from '../../lib/print.ts'
import { recordingRun } from '../../lib/record-run.ts'
import { type CommandSession, recordAct, requireDatabase, withSession } from '../../lib/session.ts'

interface PeriodFlags {
  readonly month?: ArchivePeriod
  readonly week?: ArchivePeriod
}

interface CreateFlags extends PeriodFlags {
  readonly olderThan?: Age
  readonly dryRun?: boolean
  readonly json?: boolean
}

interface VerifyFlags extends PeriodFlags {
  readonly json?: boolean
}

export function addArchiveCommands(program: Command): void {
  const archive = program
    .command('archive')
    .description('move the calls of old months or weeks to the object store, and read them back')
  addPeriodOptions(archive.command('create'))
    .description('archive calls: write, read back and verify, then remove from the database')
    .option(
      '--older-than <age>',
      'all months or weeks that ended at least this long ago, such as 12m or 5w',
      ageOption,
    )
    .option('--dry-run', 'only list what would be archived')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
It is safe while gateways run; after a kill, run it again to continue. A month
or week can be archived 35 days after its end, when all of its holds are closed;
with --older-than, those that cannot be archived yet are named, the others are
archived, and the exit code is 1. Months (12m, 1y) and weeks (5w) may be mixed:
whatever is already archived stays where it is. Balances and figures stay exact.
Needs the settings of the gateway: calls go to S3_BUCKET, or to DATA_DIR/files
without an object store.

Examples:
  tributary archive create --month 2030-01
  tributary archive create --older-than 12m --dry-run
  tributary archive create --older-than 5w`,
    )
    .action(create)
  archive
    .command('list')
    .description('list archived months and weeks')
    .option('--json', 'as JSON')
    .action(list)
  addPeriodOptions(archive.command('verify'))
    .description(
      'read archives again: checksums, sums and sealed entries; exit code 1 if one differs',
    )
    .option('--json', 'as JSON')
    .action(verify)
  archive
    .command('show <request>')
    .description('print one archived call with its hold and ledger entries, as JSON')
    .action(show)
  addPeriodOptions(archive.command('read'))
    .description('print all archived calls of a month or week, one JSON document per line')
    .action(read)
}

function addPeriodOptions(command: Command): Command {
  return command
    .option('--month <month>', 'month (UTC), such as 2030-01', periodOption(readMonth))
    .option('--week <day>', 'week (UTC), by its Monday, such as 2030-01-07', periodOption(readWeek))
}

/** Returns the period that a command names, if any. Throws OperatorError if it names two. */
function chosenPeriod({ month, week }: PeriodFlags): ArchivePeriod | undefined {
  if (month && week) throw new OperatorError('name either --month or --week')
  return month ?? week
}

/** Returns the period's name under a member named after its kind, for JSON output. */
function labelled({ kind, name }: Pick<ArchivePeriod, 'kind' | 'name'>) {
  return kind === 'month' ? { month: name } : { week: name }
}

function nameOf(row: ReturnType<typeof labelled>): string {
  return row.month ?? row.week
}

async function create(flags: CreateFlags): Promise<void> {
  const named = chosenPeriod(flags)
  if ((named === undefined) === (flags.olderThan === undefined)) {
    throw new OperatorError('name one of --month, --week and --older-than')
  }
  requireDatabase()
  await withSession(async (session) => {
    const periods = named ? [named] : await listOlder(session, flags.olderThan)
    if (flags.dryRun) return await describePeriods(session, periods, flags)
    const run = { command: 'archive', place: placeOfStorage(session.config) } as const
    const archived = await recordingRun(session.sql, run, () => archiveAll(session, periods, flags))
    if (flags.json) return printJson(archived)
    for (const one of archived) {
      if ('refused' in one) continue
      const { holds, objects } = one
      const name = nameOf(one)
      console.log(
        `${name}: ${holds} calls archived, in ${objects} object${objects === 1 ? '' : 's'}.`,
      )
    }
    if (archived.length === 0) console.log('There is nothing to archive.')
  })
}

async function archiveAll(
  session: CommandSession,
  periods: readonly ArchivePeriod[],
  flags: CreateFlags,
) {
  const archived = []
  for (const period of periods) {
    const done = await orRefused(flags, archiveOne(session, period))
    archived.push({ ...labelled(period), ...done })
  }
  return archived
}

/** Reports a period that cannot be archived, so that later ones are; rejects if it was named. */
async function orRefused<T>(
  flags: CreateFlags,
  work: Promise<T>,
): Promise<T | { readonly refused: string }> {
  try {
    return await work
  } catch (error) {
    if (!flags.olderThan || !(error instanceof OperatorError)) throw error
    console.error(`tributary: ${error.message}`)
    process.exitCode = 1
    return { refused: error.message }
  }
}

async function listOlder({ sql }: CommandSession, age?: Age): Promise<ArchivePeriod[]> {
  const { now } = await readFirstHold(sql)
  return age ? await listPeriods(sql, age.kind, timeBefore(now, age)) : []
}

async function describePeriods(
  { sql }: CommandSession,
  periods: readonly ArchivePeriod[],
  flags: CreateFlags,
): Promise<void> {
  const rows = []
  for (const period of periods) {
    const calls = Number((await countHolds(sql, period)).holds)
    const checked = await orRefused(flags, checkPeriod(sql, period))
    const refused = typeof checked === 'bigint' ? {} : checked
    rows.push({ ...labelled(period), calls, ...refused })
  }
  if (flags.json) return printJson(rows)
  printTable(
    rows,
    [
      { title: 'period', cell: nameOf },
      { title: 'calls', cell: ({ calls }) => calls, right: true },
    ],
    'There is nothing to archive.',
  )
}

async function archiveOne({ sql, config }: CommandSession, period: ArchivePeriod) {
  const onProgress = (message: string) => console.error(`… ${message}`)
  const blobs = openArchives(sql, config)
  const { holds, objects } = await namingStorage(config, () =>
    archivePeriod(period, { sql, blobs, onProgress }),
  )
  if (holds > 0) {
    await recordAct(sql, 'archive create', { target: period.name }, { calls: holds, objects })
  }
  return { holds, objects }
}

async function list(options: { readonly json?: boolean }): Promise<void> {
  const rows = await withSession(({ sql }) => selectArchives(sql))
  if (options.json) {
    return printJson(
      rows.map(({ after_id: _, end_id: __, kind, name, manifest_sha256, ...row }) => ({
        ...labelled({ kind, name }),
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
      { title: 'period', cell: ({ name }) => name },
      { title: 'calls', cell: ({ holds }) => String(holds), right: true },
      { title: 'entries', cell: ({ entries }) => String(entries), right: true },
      { title: 'objects', cell: ({ objects }) => objects, right: true },
      { title: 'MB', cell: ({ bytes }) => (Number(bytes) / 1e6).toFixed(1), right: true },
      { title: 'archived', cell: ({ finished_at: at }) => printTime(at) || 'not complete' },
      { title: 'manifest', cell: ({ manifest_key: key }) => key ?? '' },
    ],
    'Nothing is archived.',
  )
}

async function verify(flags: VerifyFlags): Promise<void> {
  const verified = await withSession(async ({ sql, config }) => {
    const storage = openArchives(sql, config)
    const found = []
    for (const stated of await readStated(sql, chosenPeriod(flags)?.name)) {
      found.push(await verifyPeriod(sql, storage, stated))
    }
    return found
  })
  if (verified.some(({ problems }) => problems.length > 0)) process.exitCode = 1
  if (flags.json) {
    return printJson(
      verified.map(({ kind, name, ...one }) => ({ ...labelled({ kind, name }), ...one })),
    )
  }
  printTable(
    verified,
    [
      { title: 'period', cell: ({ name }) => name },
      { title: 'objects', cell: ({ objects }) => objects, right: true },
      { title: 'calls', cell: ({ holds }) => holds, right: true },
      { title: 'entries', cell: ({ entries }) => entries, right: true },
      { title: '', cell: ({ problems }) => (problems.length === 0 ? 'ok' : 'DIFFERS') },
    ],
    'Nothing is archived.',
  )
  for (const { name, problems } of verified) {
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

async function read(flags: PeriodFlags): Promise<void> {
  const period = chosenPeriod(flags)
  if (!period) throw new OperatorError('name --month or --week')
  await withSession(async ({ sql, config }) => {
    await readStated(sql, period.name)
    for await (const text of readPeriodLines(sql, openArchives(sql, config), period.name)) {
      process.stdout.write(text)
    }
  })
}

function periodOption(
  readPeriod: (name: string) => ArchivePeriod,
): (text: string) => ArchivePeriod {
  return (text) => {
    try {
      return readPeriod(text)
    } catch (error) {
      throw new InvalidArgumentError(error instanceof Error ? `${error.message}.` : '')
    }
  }
}

const AGES: Readonly<Record<string, Age>> = {
  w: { kind: 'week', count: 1 },
  m: { kind: 'month', count: 1 },
  y: { kind: 'month', count: 12 },
}

function ageOption(text: string): Age {
  const [, count, letter = ''] = /^(\d{1,3})([wmy])$/.exec(text) ?? []
  const unit = AGES[letter]
  if (!unit) throw new InvalidArgumentError('Write weeks such as 5w, months such as 12m, or 1y.')
  return { ...unit, count: unit.count * Number(count) }
}
