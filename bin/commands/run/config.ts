/** `tributary config`: every environment variable, or the settings of the database. */
import type { Command } from 'commander'
import { loadConfig, showConfig } from '../../../server/api/config/config.ts'
import { NO_WAY_TO_SIGN_UP } from '../../../server/api/config/sign-in-variables.ts'
import { connect } from '../../../server/base/database/connection/client.ts'
import { judgeServer, type ServerFinding } from '../../../server/base/database/judge-server.ts'
import { readServer } from '../../../server/base/database/store.ts'
import { checkMail } from '../../../server/work/alerts/mail/transport.ts'
import { printJson, printTable } from '../../lib/print.ts'
import { withDatabase } from '../../lib/session.ts'

interface Options {
  readonly database?: boolean
  readonly mail?: boolean
  readonly json?: boolean
}

export function addConfigCommand(program: Command): void {
  program
    .command('config')
    .description('show every environment variable; fail if one is invalid')
    .option(
      '--database',
      'show the settings of the PostgreSQL server instead; fail if one is refused',
    )
    .option('--mail', 'sign in to the mail server instead; fail if that does not work')
    .option('--json', 'as JSON')
    .action((options: Options) => {
      if (options.mail) return showMail(options)
      return options.database ? showDatabase(options) : show(options)
    })
}

function show({ json = false }: Options) {
  const { signUp, mail, oidc } = loadConfig()
  if (signUp.isOpen && !mail && !oidc) console.error(NO_WAY_TO_SIGN_UP)
  const rows = showConfig()
  if (json) return printJson(rows)
  printTable(
    rows,
    [
      { title: 'variable', cell: ({ name }) => name },
      { title: 'value', cell: ({ value, set }) => (set ? value : `${value} (default)`) },
      { title: 'meaning', cell: ({ description }) => description },
    ],
    '',
  )
}

async function showMail({ json = false }: Options): Promise<void> {
  const { mail } = loadConfig()
  const problem = mail ? await checkMail(mail.server) : 'SMTP_URL and MAIL_FROM are not set'
  if (problem !== undefined) process.exitCode = 1
  if (json) return printJson({ works: problem === undefined, ...(problem && { problem }) })
  console.log(problem === undefined ? 'mail works' : `mail does not work: ${problem}`)
}

async function showDatabase({ json = false }: Options): Promise<void> {
  const findings = await readFindings()
  if (findings.some(({ verdict }) => verdict === 'refused')) process.exitCode = 1
  if (json) return printJson(findings)
  printTable(
    findings,
    [
      { title: 'setting', cell: ({ name }) => name },
      { title: 'value', cell: ({ value }) => value },
      { title: 'verdict', cell: ({ verdict }) => verdict },
      { title: 'what to do', cell: ({ message }) => message },
    ],
    '',
  )
}

/** A server that would be refused is still shown. */
async function readFindings(): Promise<readonly ServerFinding[]> {
  const { databaseUrl } = loadConfig()
  if (databaseUrl === undefined) {
    return await withDatabase(async ({ sql }) => judgeServer(await readServer(sql)))
  }
  const sql = connect({ url: databaseUrl }, { connections: 1, name: 'tributary config' })
  try {
    return judgeServer(await readServer(sql))
  } finally {
    await sql.end({ timeout: 1 })
  }
}
