/** `tributary task unknown`: lists vendors' tasks that a restored database does not know. */
import type { Command } from 'commander'
import { Agent } from 'undici'
import { createLog } from '../../../server/api/app/log.ts'
import { openSecretBox } from '../../../server/api/config/secret-key-file.ts'
import { oneLine } from '../../../server/base/lib/text/one-line.ts'
import { createCatalog } from '../../../server/money/catalog/load/snapshot.ts'
import { UPSTREAMS } from '../../../server/wire/upstreams/index.ts'
import { Deadline } from '../../../server/work/pipeline/send/deadline.ts'
import { openReadingWire } from '../../../server/work/pipeline/send/wire.ts'
import {
  findUnknownTasks,
  type UnknownTasks,
} from '../../../server/work/tasks/recover/find-unknown.ts'
import { parsePastOption } from '../../lib/parse.ts'
import { printJson, printTable, printTime } from '../../lib/print.ts'
import { type CommandSession, withSession } from '../../lib/session.ts'

const ANSWER_MS = 30_000
/** The most time of all the vendors' lists together. */
const FIND_MS = 600_000

interface UnknownOptions {
  readonly since: Date
  readonly json?: boolean
}

export function addTaskCommands(program: Command): void {
  const task = program.command('task').description('find tasks that this database does not know')
  task
    .command('unknown')
    .description('list vendors’ tasks that this database does not know; exit code 1 if any')
    .requiredOption('--since <time>', 'time of the restored backup', parsePastOption)
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      '\nRun this after a restore: vendors bill these tasks, but no account was charged.\n' +
        'Example:\n  tributary task unknown --since 2026-11-20T03:00:00Z',
    )
    .action((options: UnknownOptions) => withSession((session) => report(session, options)))
}

async function report(session: CommandSession, { since, json }: UnknownOptions): Promise<void> {
  const found = await find(session, since)
  if (found.tasks.length > 0) process.exitCode = 1
  if (json) return printJson(found)
  printTable(
    found.tasks,
    [
      { title: 'channel', cell: (one) => one.channel },
      { title: 'model', cell: (one) => one.upstream_model },
      { title: 'id at the vendor', cell: (one) => one.upstream_id },
      { title: 'created', cell: (one) => printTime(one.created_at) },
      { title: 'state', cell: (one) => one.state },
      { title: 'billed', cell: ({ usage }) => describe(usage) },
    ],
    'The vendors list no unknown tasks.',
  )
  for (const { channel, upstream_model, reason } of found.unasked) {
    console.log(`not asked: ${channel} ${upstream_model}: ${oneLine(reason)}`)
  }
}

async function find({ sql, config }: CommandSession, since: Date): Promise<UnknownTasks> {
  const secrets = openSecretBox(config)
  const upstreams = Object.fromEntries(UPSTREAMS)
  const catalog = await createCatalog({
    sql,
    upstreams,
    secrets,
    log: createLog({ level: 'silent', format: 'json' }),
  })
  const dispatcher = new Agent()
  const wire = openReadingWire({
    dispatcher,
    firstByteTimeoutMs: ANSWER_MS,
    idleTimeoutMs: ANSWER_MS,
    deadline: new Deadline(FIND_MS),
    connectTimeoutMs: ANSWER_MS,
    socketsMax: 1,
  })
  try {
    const parts = { sql, catalog: catalog.snapshot(), upstreams: UPSTREAMS, wire, since }
    return await findUnknownTasks(parts)
  } finally {
    await catalog.stop()
    await dispatcher.close()
  }
}

function describe(usage: UnknownTasks['tasks'][number]['usage'] = {}): string {
  return Object.entries(usage)
    .map(([unit, quantity]) => `${quantity} ${unit}`)
    .join(', ')
}
